import assert from 'node:assert/strict'
import { kubectl } from '../cluster/commands.ts'

/**
 * Runs the commands of a finding as an administrator would paste them. The names of the objects
 * begin with `name`, because other tests may run the same commands for their users. `forbid`
 * removes them.
 */
export async function allow(message: string, name: string): Promise<void> {
  const [, commands = ''] = /Allow it: (kubectl .*)$/.exec(message) ?? []
  for (const command of commands.split(' && ')) {
    const [program, verb = '', kind = '', given = '', ...rest] = command.split(' ')
    assert.equal(program, 'kubectl')
    const own = rest.map((word) => word.replace(`--clusterrole=${given}`, `--clusterrole=${name}-${given}`))
    await kubectl([verb, kind, `${name}-${given}`, ...own])
    await kubectl(['label', kind, `${name}-${given}`, `test=${name}`])
  }
}

export const forbid = async (name: string): Promise<void> =>
  void (await kubectl(['delete', 'clusterrole,clusterrolebinding', '--selector', `test=${name}`]))
