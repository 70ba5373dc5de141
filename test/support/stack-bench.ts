import { after, before, describe, it } from 'node:test'
import { makeStack, provideRunnerImage, type TestStack } from './stack.ts'
import type { OpenStackPlace, StackPlace } from './stack-place.ts'
import { until } from './until.ts'

/** A stack whose first resource is created at once, and the second one after some seconds. */
export const slowApply = (seconds: number) => ({
  'main.tf': `
resource "terraform_data" "first" { input = 1 }
resource "terraform_data" "slow" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "sleep ${seconds}" }
}
`,
})

export interface TestRun {
  readonly action: string
  readonly status: string
}

/** Stacks of one place, with the facts about them that tests check. */
export interface StackBench {
  readonly place: StackPlace
  newStack(): Promise<TestStack>
  /** Begins an apply whose second resource takes so long, and waits until it is being created. */
  startApply(seconds: number): Promise<{ readonly stack: TestStack; readonly container: string }>
  addresses(stack: TestStack): Promise<string[]>
  /** Lists the runs of a stack, oldest first. */
  runs(stack: TestStack): Promise<TestRun[]>
  /** Counts the runs of a stack that began before the previous one had ended. */
  overlaps(stack: TestStack): Promise<number>
  states(stack: TestStack): Promise<{ number: number; serial: number }[]>
  /** Returns the terms of the last deployment in the history and in the status. */
  lastTerms(stack: TestStack): Promise<(string | undefined)[]>
  /** Lists the last audit events of a stack, oldest first. */
  events(stack: TestStack, count: number): Promise<string[]>
}

/** A suite of stacks of Terraform, wherever the place runs them. */
export async function stackSuite(
  { name, folder, open }: { readonly name: string; readonly folder: string; readonly open: OpenStackPlace },
  ...cases: readonly ((get: () => StackBench) => void)[]
): Promise<void> {
  const image = await provideRunnerImage('terraform')
  if (image === undefined) return void it(name, { skip: 'this machine has no terraform' })
  describe(name, () => {
    let bench: StackBench & { close(): Promise<void> }
    before(async () => {
      bench = openBench(await open(folder, { QUAYSIDE_TERRAFORM_IMAGE: image }), image)
    })
    after(() => bench?.close())
    for (const add of cases) add(() => bench)
  })
}

function openBench(place: StackPlace, image: string): StackBench & { close(): Promise<void> } {
  const { server, environmentId } = place
  const stacks: TestStack[] = []
  const settings = { job_resources: { cpu_milli: 200, ram_mib: 512, gpu: 0, storage_gib: 1 } }
  const version = image.split(':').at(-1) ?? ''
  const newStack = async () => {
    const stack = await makeStack(server, { environmentId, name: `stack-${stacks.length}`, version, settings })
    stacks.push(stack)
    return stack
  }
  return {
    place,
    newStack,
    startApply: async (seconds) => {
      const stack = await newStack()
      await stack.git.push(slowApply(seconds))
      await stack.deploy()
      const container = await place.running(stack, 'apply')
      await until('the first resource is created', async () =>
        (await place.processes(container)).includes(`sleep ${seconds}`),
      )
      return { stack, container }
    },
    addresses: async ({ id }) => {
      const path = `/terraform/${id}/terraformResources`
      const { results } = await server.must<{ results: { address: string }[] }>('GET', path)
      return results.map(({ address }) => address)
    },
    runs: async ({ id }) => [
      ...(await server.sql<TestRun[]>`
        select action, status from stack_run where service_id = ${id} order by created_at`),
    ],
    overlaps: async ({ id }) => {
      const [row] = await server.sql<{ count: number }[]>`
        select count(*)::integer from stack_run one join stack_run other using (service_id)
        where service_id = ${id} and one.created_at < other.created_at
          and coalesce(one.finished_at, 'infinity') > other.created_at`
      return row?.count ?? 0
    },
    states: async ({ id }) => [
      ...(await server.sql<{ number: number; serial: number }[]>`
        select number, serial::float8 as serial from stack_state where service_id = ${id} order by number`),
    ],
    lastTerms: async ({ id }) => {
      const history = `/environment/${environmentId}/deploymentHistoryV2`
      const { results } = await server.must<{ results: { trigger_action: string }[] }>('GET', history)
      const { terraforms } = await server.must<{
        terraforms: { id: string; status_details: { sub_action: string } }[]
      }>('GET', `/environment/${environmentId}/statuses`)
      return [results[0]?.trigger_action, terraforms.find((one) => one.id === id)?.status_details.sub_action]
    },
    events: async ({ id }, count) => {
      const rows = await server.sql<{ event_type: string }[]>`
        select event_type from audit_event where target_id = ${id} order by created_at desc, id desc limit ${count}`
      return rows.map(({ event_type }) => event_type).toReversed()
    },
    close: async () => {
      await Promise.all(stacks.map(({ git }) => git.remove()))
      await place.close()
    },
  }
}
