import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'

// A workflow must end even if the end of its request cannot be written. The end is written later.

const platform = await createPlatform({ after }, { works: true })
const { a, builder, call, database } = platform
const { applicationId, environmentId } = a.objects
await platform.addRepository(a)

interface Row {
  readonly workflow: string
  readonly request: string
  readonly finished_at: Date | null
}

const deploy = async (): Promise<void> => {
  const answer = await call(a.tokens.DEPLOY, 'POST', `/application/${applicationId}/deploy`, {})
  assert.equal(answer.status, 202, answer.text)
}

/** Returns the requests with their workflows, oldest first. */
const requests = () => database<Row[]>`
  select w.state as workflow, r.status as request, r.finished_at
  from deployment_request r join workflow w on w.id = r.id where r.environment_id = ${environmentId} order by r.seq`

test('a request ends later, once, when its end could not be written, and the next one runs', async () => {
  await database.unsafe(`
    create function refuse_end() returns trigger language plpgsql as $$
    begin
      raise exception 'made up';
    end $$`)
  await database`
    create trigger refuse_end before update on deployment_request for each row
    when (new.status = 'ERROR') execute function refuse_end()`
  builder.tell(applicationId, { type: 'fail', error: new TypeError('a bug') })
  const [before] = await database<{ seq: string }[]>`select max(seq)::text as seq from event`
  await deploy()
  const given = await until('its workflow has ended', async () => {
    const [row] = await requests()
    return row?.workflow === 'failed' && row
  })
  assert.deepEqual([given.request, given.finished_at], ['ONGOING', null])

  await database`drop trigger refuse_end on deployment_request`
  const ended = await until('its request has ended', async () => {
    const [row] = await requests()
    return row?.finished_at !== null && row
  })
  assert.equal(ended.request, 'ERROR')
  const [service] = await database<{ state: string; reason: string }[]>`
    select s.state, t.reason from service s join deployment_target t on t.service_id = s.id
    where s.id = ${applicationId}`
  assert.equal(service?.state, 'DEPLOYMENT_ERROR')
  assert.match(service.reason, /^The deployment could not continue \(failed: a bug\); deploy again\.$/)
  const events = await database<{ type: string }[]>`
    select type from event where environment_id = ${environmentId} and seq > ${before?.seq ?? 0} order by seq`
  assert.deepEqual(
    events.map(({ type }) => type),
    ['DEPLOYMENT_STARTED', 'DEPLOYMENT_FAILURE'],
  )

  builder.tell(applicationId, { type: 'succeed' })
  await platform.addRepository(a, 'without a bug')
  await deploy()
  await until('the next one has ended', async () => (await requests()).at(-1)?.request === 'SUCCESS')
})
