import { openDatabase } from '../../server/database/index.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { armFailpoints } from '../../server/lib/failpoint.ts'
import { silentLogger as log } from '../../server/lib/log.ts'
import { createKeyRotationWorkflow, openVault } from '../../server/vault/index.ts'
import { createWorkflows } from '../../server/workflows/index.ts'

// Rotates keys of organizations until it is killed or its parent process ends.

export interface RotatorOptions {
  readonly url: string
  readonly masterKeyFile: string
  readonly failpoint?: string
}

async function work({ url, masterKeyFile, failpoint }: RotatorOptions): Promise<void> {
  armFailpoints(failpoint)
  const database = openDatabase({ url, name: 'rotator' })
  const vault = await openVault({ database, masterKeyFile, log })
  const workflows = [createKeyRotationWorkflow({ database, clock, vault })]
  createWorkflows({ database, url, clock, log, maxRunning: 1, workflows }).start()
  process.stdin.resume().on('end', () => process.exit())
}

const given = process.argv[2]
// Parsed from what the test wrote.
if (given) await work(JSON.parse(given) as RotatorOptions)
