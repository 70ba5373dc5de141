-- A column of this type holds texts that the data key of an organization seals. A rotation of keys finds all of them by the type.
create domain sealed_text as text;

alter table backup_file alter column sealed_key type sealed_text;
alter table cluster
  alter column sealed_kubeconfig type sealed_text,
  alter column sealed_dns_secrets type sealed_text;
alter table container_registry alter column sealed_config type sealed_text;
alter table credentials alter column sealed_secrets type sealed_text;
alter table git_token alter column sealed_token type sealed_text;
alter table git_webhook alter column sealed_secret type sealed_text;
alter table helm_repository alter column sealed_config type sealed_text;
alter table kept_reply alter column body type sealed_text;
alter table release alter column sealed_variables type sealed_text;
alter table service_output alter column sealed_value type sealed_text;
alter table service_secret alter column sealed_value type sealed_text;
alter table variable alter column sealed_value type sealed_text;
alter table webhook
  alter column sealed_target_secret type sealed_text,
  alter column sealed_signing_secret type sealed_text;
