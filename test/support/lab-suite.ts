import { after, before, describe, it } from 'node:test'
import { type Lab, makeLab } from './lab.ts'
import { provideLabImage } from './lab-provider/build.ts'
import { makeStack, type TestStack } from './stack.ts'
import type { OpenStackPlace, StackPlace } from './stack-place.ts'

/** One stack of OpenTofu beside a lab, which has its resources or its state. */
export interface LabBench {
  readonly place: StackPlace
  readonly lab: Lab
  readonly stack: TestStack
}

/** A suite of one stack with a lab, wherever the place runs them. */
export async function labSuite(
  suite: { readonly name: string; readonly folder: string; readonly settings?: object; readonly open: OpenStackPlace },
  ...cases: readonly ((get: () => LabBench) => void)[]
): Promise<void> {
  const image = await provideLabImage('opentofu')
  if (image === undefined) return void it(suite.name, { skip: 'this machine has no tofu or no Go' })
  describe(suite.name, () => {
    let bench: LabBench | undefined
    const get = (): LabBench => {
      if (!bench) throw new Error('the lab is not open')
      return bench
    }
    before(async () => {
      const place = await suite.open(suite.folder, { QUAYSIDE_OPENTOFU_IMAGE: image })
      const { server, environmentId } = place
      const lab = await makeLab(server, environmentId)
      const version = image.split(':').at(-1) ?? ''
      const settings = { engine: 'OPEN_TOFU', job_resources: small, ...suite.settings }
      bench = { place, lab, stack: await makeStack(server, { environmentId, name: suite.folder, version, settings }) }
    })
    after(async () => {
      await Promise.all([bench?.stack.git.remove(), bench?.lab.application.git.remove()])
      await bench?.place.close()
    })
    for (const add of cases) add(get)
  })
}

/** A run and the lab fit on a node with two cores. */
const small = { cpu_milli: 200, ram_mib: 512, gpu: 0, storage_gib: 1 }
