import type { Sql } from '../database/index.ts'
import type { SealedColumn } from '../lib/seal.ts'

/**
 * Lists the columns with texts that the organizations' data keys seal: those of the type
 * `sealed_text`, sorted by name.
 */
export const listSealedColumns = (sql: Sql): Promise<SealedColumn[]> => sql<SealedColumn[]>`
  select c.relname as table, a.attname as column, (
    select array_agg(k.attname::text order by array_position(i.indkey::int2[], k.attnum))
    from pg_index i join pg_attribute k on k.attrelid = i.indrelid and k.attnum = any(i.indkey)
    where i.indrelid = c.oid and i.indisprimary
  ) as key
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relkind = 'r' and a.atttypid = 'sealed_text'::regtype and not a.attisdropped
  order by c.relname, a.attname`
