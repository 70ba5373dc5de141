import { type Draft, listAt, valueAt } from './draft.ts'
import type { FieldSpec, ShapeSpec } from './fields.ts'
import { pick } from './record.ts'

const scaler: readonly FieldSpec[] = [
  { path: 'scaler_type', label: 'Type', type: 'text', isRequired: true, hint: 'As KEDA names it, such as cron.' },
  {
    path: 'role',
    label: 'Role',
    type: 'select',
    options: [
      { value: 'PRIMARY', label: 'decides' },
      { value: 'SAFETY', label: 'joins in for safety' },
    ],
  },
  { path: 'enabled', label: 'Enabled', type: 'check' },
  { path: 'config_yaml', label: 'Settings of the scaler', type: 'long', hint: 'YAML.' },
  {
    path: 'trigger_authentication',
    label: 'Authentication',
    type: 'shape',
    shapes: [
      { label: 'none', mark: '', fresh: null, fields: [] },
      {
        label: 'by variables of the service',
        mark: 'name',
        fresh: { name: 'scaler', config_yaml: '' },
        fields: [
          { path: 'name', label: 'Name of the authentication', type: 'text', isRequired: true },
          { path: 'config_yaml', label: 'Settings of the authentication', type: 'long', hint: 'YAML.' },
        ],
      },
    ],
  },
]
const freshScaler: Draft = { scaler_type: 'cron', role: 'PRIMARY', enabled: true, config_yaml: '' }

/** How a service scales by events. Without it the load decides. */
export const autoscalingField: ShapeSpec = {
  path: 'autoscaling',
  label: 'Scaling between these numbers',
  type: 'shape',
  hint: 'Events need a cluster with KEDA. With all scalers disabled, only the time before it sleeps acts.',
  shapes: [
    { label: 'by load', mark: '', fresh: null, fields: [] },
    {
      label: 'by events (KEDA)',
      mark: 'mode',
      fresh: { mode: 'KEDA', polling_interval_seconds: 30, cooldown_period_seconds: 300, scalers: [freshScaler] },
      fields: [
        { path: 'polling_interval_seconds', label: 'Asks every', type: 'number', hint: 'Seconds.' },
        { path: 'cooldown_period_seconds', label: 'Sleeps after', type: 'number', hint: 'Seconds without an event.' },
        { path: 'scalers', label: 'Scalers', type: 'list', noun: 'scaler', fresh: freshScaler, fields: scaler },
      ],
    },
  ],
}

/** Pure: the policy of a record, as requests have it. */
export function autoscalingOf(record: Draft): Draft {
  const policy = valueAt(record, 'autoscaling')
  if (!policy) return { autoscaling: null }
  const scalers = listAt(record, 'autoscaling.scalers').map((one) => {
    const trigger = valueAt(one, 'trigger_authentication')
    return {
      ...pick(one, 'scaler_type', 'role', 'enabled', 'config_json', 'config_yaml'),
      ...(trigger && { trigger_authentication: pick(trigger, 'name', 'config_yaml') }),
    }
  })
  return { autoscaling: { ...pick(policy, 'mode', 'polling_interval_seconds', 'cooldown_period_seconds'), scalers } }
}
