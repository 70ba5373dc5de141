import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Choices } from '../api/reads-making.ts'
import type { Draft } from './draft.ts'
import type { FieldSpec } from './fields.ts'
import { chartSettings, stackSettings } from './settings-infrastructure.ts'
import { databaseSettings, jobSettings, longRunningSettings } from './settings-services.ts'

/** A part of the settings, with a heading. */
export interface SettingsGroup {
  readonly title: string
  readonly fields: readonly FieldSpec[]
}

/** The settings of a kind: the form, and the draft of it that a record makes. */
export interface Settings {
  groups(choices: Choices, draft: Draft): readonly SettingsGroup[]
  draft(record: Draft): Draft
}

/** The settings of each kind. Members of the body that no field shows are not sent and stay. */
export const settings: Readonly<Record<KindName, Settings>> = {
  application: longRunningSettings('application'),
  container: longRunningSettings('container'),
  database: databaseSettings,
  job: jobSettings,
  helm: chartSettings,
  terraform: stackSettings,
}
