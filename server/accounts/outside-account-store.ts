import type { Sql } from '../database/index.ts'
import type { OutsidePerson } from './outside-person.ts'

/**
 * Records that a person signed in at an outside issuer. Returns the id of the account. Undefined if
 * no organization has the person as a member.
 */
export async function saveOutsideSignIn(sql: Sql, person: OutsidePerson, now: Date): Promise<string | undefined> {
  const { issuer, subject, name, first_name, last_name, outside_email } = person
  const [row] = await sql<{ id: string }[]>`
    update account a set outside_signed_in_at = ${now}, outside_email = ${outside_email}, updated_at = ${now},
      name = coalesce(${name}, a.name), first_name = coalesce(${first_name}, a.first_name),
      last_name = coalesce(${last_name}, a.last_name)
    where a.issuer = ${issuer} and a.subject = ${subject}
      and exists (select from member m where m.account_id = a.id)
    returning a.id`
  return row?.id
}
