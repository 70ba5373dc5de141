-- The domain whose names lead to the ingress controller of a connected cluster. Names of other
-- clusters lead to the router of the platform.
alter table cluster add column traffic_domain text generated always as (
  case when kubernetes = 'SELF_MANAGED' and sealed_kubeconfig is not null then dns_provider ->> 'domain' end) stored;
