import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { variableScopes } from '../../contract/enums.ts'
import { createPlatform } from '../support/platform.ts'

/** An import writes only at the scopes that its service has, and answers what it wrote. */
const platform = await createPlatform({ after })
const { a, call, database } = platform
const { more, applicationId } = a.objects
const ids: Readonly<Record<string, string | undefined>> = { ...more, applicationId }
const ways = [
  ...['application', 'container', 'job'].map(
    (kind) => [kind, (id: string) => `/${kind}/${id}/environmentVariable/import`] as const,
  ),
  ...['application', 'container', 'job', 'helm', 'terraform'].map(
    (kind) => [kind, (id: string) => `/variable/import?service_id=${id}&service_type=${kind.toUpperCase()}`] as const,
  ),
]

for (const [index, [kind, pathOf]] of ways.entries()) {
  const id = ids[`${kind}Id`] ?? ''
  const path = pathOf(id)
  test(`POST ${path.replace(id, kind)} writes at the project, the environment and the ${kind} only`, async () => {
    const scopes = variableScopes.filter((scope) => scope !== 'BUILT_IN')
    const vars = scopes.map((scope) => ({ name: `V${index}_${scope}`, value: scope, scope, is_secret: false }))
    const { status, body, text } = await call(a.tokens.ADMIN, 'POST', path, { overwrite: false, vars })
    assert.equal(status, 201, text)
    const own = ['ENVIRONMENT', 'PROJECT', kind.toUpperCase()]
    const { total_variables_to_import, successful_imported_variables: written } = Object(body)
    assert.equal(total_variables_to_import, vars.length)
    assert.deepEqual(written.map(({ scope }: { scope: string }) => scope).toSorted(), own.toSorted())
    const rows = await database<{ key: string }[]>`select key from variable where key like ${`V${index}\\_%`}`
    assert.deepEqual(rows.map(({ key }) => key).toSorted(), own.map((scope) => `V${index}_${scope}`).toSorted())
  })
}
