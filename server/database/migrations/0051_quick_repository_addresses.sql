-- An address in normal form is returned after one comparison: lists of services compute it for each row.
create or replace function repository_address(url text) returns text language sql immutable parallel safe
  return (
    select case when url ~ '^https?://[a-z0-9.-]+/.*[.]git$' then url else (
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
    ) end
  );
