-- Changes with the kubeconfig of a cluster, so that servers know which clusters to connect again
-- without opening it.
alter table cluster add column kubeconfig_mark text generated always as (md5(sealed_kubeconfig::text)) stored;
