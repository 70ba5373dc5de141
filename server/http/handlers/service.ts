import { notFound } from '../../access/index.ts'
import { serviceHistory, serviceStatus } from '../../deployments/index.ts'
import { listLinks } from '../../domains/index.ts'
import { AppError } from '../../lib/error.ts'
import { lineId, serviceLine, serviceStream } from '../../logs/index.ts'
import type { Handlers } from '../call.ts'
import { requestedBy } from './requested-by.ts'
import type { Rooms } from './rooms.ts'

const defaultTail = 1000
const longestTail = 10_000

/** Services, whatever their kind. */
export const serviceHandlers = (rooms: Rooms) => {
  const { database, deployments, services, lines } = rooms
  return {
    listServices: async ({ target, query }) => {
      if (query.toUpdate)
        throw new AppError('invalid', 'toUpdate: branches are not watched yet, so what is behind is not known.')
      return { results: await services.list(target.id) }
    },
    createService: ({ target, body }) => services.create(target, body),
    getService: async ({ target }) => services.record(target),
    editService: ({ target, body }) => services.edit(target, body),
    deleteService: async (call) => void (await deployments.remove(call.target, requestedBy(call))),

    getServiceStatus: async ({ target, client }) => {
      const status = await serviceStatus(database, target.id, client.dialect)
      if (!status) throw notFound()
      return status
    },
    deployService: (call) => deployments.deploy(call.target, requestedBy(call), call.body.git_commit_id || undefined),
    redeployService: (call) => deployments.redeploy(call.target, requestedBy(call)),
    stopService: (call) => deployments.stop(call.target, requestedBy(call)),
    restartService: (call) => deployments.restart(call.target, requestedBy(call)),
    uninstallService: (call) => deployments.uninstall(call.target, requestedBy(call)),

    listServiceHistory: ({ target, query }) => serviceHistory(database, target.id, query.pageSize),
    listServiceLog: async ({ target, query }) => {
      const stream = serviceStream(target.id)
      const stored = await lines.tail(stream, Math.min(query.tail ?? defaultTail, longestTail))
      return { results: stored.map((line) => toLog(line.seq, serviceLine(line))) }

      function toLog(seq: number, line: ReturnType<typeof serviceLine>) {
        const { at, text, replica, release } = line
        return { id: lineId(stream, seq), created_at: new Date(at), message: text, pod_name: replica, version: release }
      }
    },
    listServiceLinks: async ({ target }) => ({ results: await listLinks(database, target, rooms.publicAddress) }),
  } satisfies Partial<Handlers>
}
