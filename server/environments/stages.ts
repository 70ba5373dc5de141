import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import { type EnvironmentRow, nameTaken } from '../organizations/index.ts'
import { moved } from './stage-order.ts'
import {
  deleteStage,
  findStage,
  insertStage,
  listStages,
  lockStages,
  type StageRow,
  setStageOfService,
  setStageOrder,
  stageOrder,
  updateStage,
} from './stage-store.ts'

export interface StageRequest {
  readonly name: string
  readonly description?: string | null
}

/** Manages the stages of environments. Others always see them numbered from 0 without gaps. */
export function createStages({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
  const list = async (sql: Sql, environmentId: string) => (await listStages(sql, environmentId)).map(stageRecord)
  const one = async (sql: Sql, id: string) => {
    const row = await findStage(sql, id)
    if (!row) throw notFound('deployment stage', id)
    return stageRecord(row)
  }
  /** Does the work while other changes of stages and new services wait. */
  const locked = <T>(environmentId: string, work: (sql: Sql) => Promise<T>): Promise<T> =>
    inTransaction(database, async (sql) => {
      if (!(await lockStages(sql, environmentId))) throw notFound('environment', environmentId)
      return work(sql)
    })
  const move = (stage: StageRow, place: Parameters<typeof moved>[2]) =>
    locked(stage.environment_id, async (sql) => {
      const order = await stageOrder(sql, stage.environment_id)
      const other = 'before' in place ? place.before : place.after
      const missing = [other, stage.id].find((id) => !order.includes(id))
      if (missing !== undefined) throw notFound('deployment stage', missing)
      await setStageOrder(sql, moved(order, stage.id, place), clock.now())
      return list(sql, stage.environment_id)
    })

  return {
    list: (environmentId: string) => list(database, environmentId),
    get: (id: string) => one(database, id),

    /** Creates a stage after the last one. */
    create(environment: Pick<EnvironmentRow, 'id'>, body: StageRequest) {
      const name = checkName('name', body.name)
      const description = body.description ?? ''
      return locked(environment.id, async (sql) => {
        const { length } = await stageOrder(sql, environment.id)
        const row = { id: newId(), environment_id: environment.id, name, description, deployment_order: length }
        await insertStage(sql, { ...row, now: clock.now() })
        return one(sql, row.id)
      }).catch(nameTaken('A stage', name))
    },

    edit(stage: StageRow, body: StageRequest) {
      const name = checkName('name', body.name)
      const change = { name, ...(body.description === undefined ? {} : { description: body.description ?? '' }) }
      return inTransaction(database, async (sql) => {
        await updateStage(sql, stage.id, change, clock.now())
        return one(sql, stage.id)
      }).catch(nameTaken('A stage', name))
    },

    /**
     * Deletes a stage. 409 if it holds services. 409 if it is the environment's last stage, because
     * new services need one.
     */
    remove: (stage: StageRow): Promise<void> =>
      locked(stage.environment_id, async (sql) => {
        const order = await stageOrder(sql, stage.environment_id)
        if (order.length === 1) {
          throw new AppError('conflict', `Stage "${stage.name}" is the only stage of its environment. Keep it.`)
        }
        if (!(await deleteStage(sql, stage.id))) {
          throw new AppError('conflict', `Stage "${stage.name}" holds services. Move them to another stage first.`)
        }
        await setStageOrder(
          sql,
          order.filter((id) => id !== stage.id),
          clock.now(),
        )
      }),

    moveBefore: (stage: StageRow, other: string) => move(stage, { before: other }),
    moveAfter: (stage: StageRow, other: string) => move(stage, { after: other }),

    attach: (stage: StageRow, serviceId: string, isSkipped: boolean) =>
      locked(stage.environment_id, async (sql) => {
        const place = { environmentId: stage.environment_id, stageId: stage.id, serviceId, isSkipped }
        if (!(await setStageOfService(sql, place, clock.now()))) throw notFound('service', serviceId)
        return list(sql, stage.environment_id)
      }),
  }
}

/** Returns the row in API format. */
export const stageRecord = (row: StageRow) => ({
  ...row,
  environment: { id: row.environment_id },
  services: row.services.map((service) => ({
    ...service,
    created_at: new Date(service.created_at),
    updated_at: new Date(service.updated_at),
  })),
})
