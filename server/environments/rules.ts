import type { Weekday } from '@quayside/contract/resources/deployment-rule.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { checkTimeZone } from '../lib/time-zone.ts'
import { matchesWildcard } from '../lib/wildcard.ts'
import {
  type EnvironmentRuleRow,
  findEnvironmentRule,
  insertEnvironmentRule,
  listProjectRules,
  type ProjectRuleRow,
  type RuleValues,
  updateEnvironmentRule,
} from './rule-store.ts'
import { readTimeOfDay, timeOfDay } from './schedule.ts'
import { deleteSchedule } from './schedule-store.ts'

/** A schedule in a request. Only the time of day of its times counts. */
export interface ScheduleRequest {
  readonly auto_stop?: boolean | null
  readonly timezone: string
  readonly start_time: string
  readonly stop_time: string
  readonly weekdays: readonly Weekday[]
}
export interface EnvironmentRuleRequest extends ScheduleRequest {
  readonly on_demand_preview?: boolean | null
  readonly auto_preview?: boolean | null
}

/** Manages the rule of each environment, which says when the environment runs. */
export function createRules({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
  return {
    /** Returns the first rule of a project that matches the name of a new environment. */
    async find(sql: Sql, projectId: string, name: string): Promise<ProjectRuleRow | undefined> {
      return firstMatch(await listProjectRules(sql, projectId), name)
    },

    /** Sets the hours of a new environment from a rule of its project, or to the default. */
    async give(sql: Sql, environmentId: string, rule: RuleValues | undefined): Promise<void> {
      const values = rule === undefined ? {} : hoursOf(rule)
      await insertEnvironmentRule(sql, { id: newId(), environment_id: environmentId }, values, clock.now())
    },

    async get(environmentId: string) {
      return ruleRecord(existing(await findEnvironmentRule(database, environmentId)))
    },

    /** Changes the rule. A missing flag is unchanged, null clears it. */
    async edit(environmentId: string, id: string, body: EnvironmentRuleRequest) {
      const { on_demand_preview, auto_preview, auto_stop } = body
      const change = { ...scheduleOf(body), ...sentFlags({ on_demand_preview, auto_preview, auto_stop }) }
      const row = await inTransaction(database, async (sql) => {
        const edited = await updateEnvironmentRule(sql, { id, environmentId }, change, clock.now())
        // Services that the rule stopped stay stopped, and it no longer starts any.
        if (edited?.auto_stop === false) await deleteSchedule(sql, environmentId)
        return edited
      })
      return ruleRecord(existing(row, id))
    },
  }
}

function existing(row: EnvironmentRuleRow | undefined, id?: string): EnvironmentRuleRow {
  if (!row) throw notFound('deployment rule', id)
  return row
}

/** Pure: returns the first rule that matches the name. */
export const firstMatch = <R extends { readonly wildcard: string }>(rules: readonly R[], name: string): R | undefined =>
  rules.find(({ wildcard }) => matchesWildcard(wildcard, name))

const hoursOf = ({ auto_stop, timezone, start_time, stop_time, weekdays }: RuleValues): RuleValues => ({
  auto_stop,
  timezone,
  start_time,
  stop_time,
  weekdays,
})

/** Checks the time zone and returns times and days in the stored form. */
export const scheduleOf = (body: ScheduleRequest): Omit<RuleValues, 'auto_stop'> => ({
  timezone: checkTimeZone('timezone', body.timezone),
  start_time: readTimeOfDay(body.start_time),
  stop_time: readTimeOfDay(body.stop_time),
  weekdays: [...new Set(body.weekdays)],
})

/** Returns the flags in the request. Null clears a flag. */
export const sentFlags = <K extends string>(flags: Readonly<Record<K, boolean | null | undefined>>) =>
  Object.fromEntries(
    Object.entries<boolean | null | undefined>(flags).flatMap(([name, flag]) =>
      flag === undefined ? [] : [[name, flag ?? false]],
    ),
  ) as Partial<Record<K, boolean>> // the keys are those of `flags`

/** Returns the row in API format. */
export const ruleRecord = <T extends RuleValues>(row: T) => ({
  ...row,
  start_time: timeOfDay(row.start_time),
  stop_time: timeOfDay(row.stop_time),
  weekdays: [...row.weekdays],
})
