-- What the receiver answered to the last try, as text: its first KiB, or why it is not shown.
alter table webhook_delivery add column response_body text check (length(response_body) <= 1024);
