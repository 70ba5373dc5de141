/**
 * Every place in a deployment at which a test may end or disturb the process. Inert unless
 * QUAYSIDE_FAILPOINT is passed to `armFailpoints`.
 */
export const failpoints = [
  'request.committed',
  'workflow.claimed',
  'git.cloned',
  'build.done',
  'engine.created',
  'engine.started',
  'engine.healthy',
  'healthy.recorded',
  'route.recorded',
  'route.applied',
  'retire.stopped',
  'finish.before',
  'finish.after',
  'webhook.sent',
] as const
/** Such places outside of deployments. */
export const otherFailpoints = [
  'task.created',
  'task.started',
  'task.ended',
  'stack.ran',
  'job.claimed',
  'job.ended',
  'push.received',
  'push.recorded',
  'schedule.asked',
  'copy.paused',
  'copy.copied',
  'copy.ended',
  'backup.copied',
  'backup.written',
  'backup.compared',
  'restore.asked',
  'restore.written',
  'key.made',
  'key.sealing',
  'key.sealed',
  'key.replaced',
  'snapshot.copied',
  'rollback.aside',
  'rotation.sealing',
  'rotation.sealed',
  'renew.applied',
  'chart.rendered',
  'chart.installing',
] as const
export type Failpoint = (typeof failpoints)[number] | (typeof otherFailpoints)[number]
/** `stop`: the process is suspended until something continues it. */
type Action = 'kill' | 'stop' | 'throw'
const signals = { kill: 'SIGKILL', stop: 'SIGSTOP' } as const

let armed: { name: Failpoint; action: Action; remaining: number } | undefined

/** `specification` is `name:action[:times]`, for example `build.done:kill`. */
export function armFailpoints(specification: string | undefined): void {
  if (!specification) {
    armed = undefined
    return
  }
  const [name, action = 'kill', times = '1'] = specification.split(':')
  const known = [...failpoints, ...otherFailpoints].find((failpoint) => failpoint === name)
  if (!known || (action !== 'kill' && action !== 'stop' && action !== 'throw'))
    throw new Error(`unknown failpoint "${specification}"`)
  armed = { name: known, action, remaining: Number(times) }
}

/** Marks a place in the code. Does nothing in production. */
export function failpoint(name: Failpoint): void {
  if (armed?.name !== name || armed.remaining === 0) return
  armed.remaining--
  if (armed.action !== 'throw') process.kill(process.pid, signals[armed.action])
  if (armed.action !== 'stop') throw new Error(`failpoint ${name}`)
}
