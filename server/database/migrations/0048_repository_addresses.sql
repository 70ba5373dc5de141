-- Addresses of one repository: the case of scheme and host, default ports, ".git" and slashes at the end do not count.
-- Applied to its own result it changes nothing. Text that is not an http address is returned as it is.
create or replace function repository_address(url text) returns text language sql immutable parallel safe
  return (
    select case when scheme is null then url else scheme || '://' || host
      || case when port = any (array['', ':', case scheme when 'https' then ':443' else ':80' end]) then '' else port end
      || case when path = '' or right(path, 4) = '.git' then path else path || '.git' end
    end
    from (
      select lower(parts[1]) as scheme, lower(parts[2]) as host, coalesce(parts[4], '') as path,
        regexp_replace(coalesce(parts[3], ''), '^:0+(?=[0-9])', ':') as port
      from (
        select regexp_match(rtrim(url, '/'), '^(https?)://(\[[^]/]*\]|[^/:[]+)(:[0-9]*)?(/.*)?$', 'i') as parts
      ) address
    ) part
  );

-- Of the contacts that now have the same address, the latest with the latest credential is kept.
delete from repository_access a using (
  select ctid, row_number() over (
    partition by organization_id, repository_address(address), git_token_id
    order by coalesce(credential_version, 0) desc, checked_at desc
  ) as place
  from repository_access
) ranked
where a.ctid = ranked.ctid and ranked.place > 1;
update repository_access set address = repository_address(address) where address <> repository_address(address);
