-- The deletion of an event looks for its deliveries.
create index webhook_delivery_event on webhook_delivery (event_id);
