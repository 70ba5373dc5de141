import { operation } from '../operation.ts'
import { settingsOfKind } from '../services/advanced-settings.ts'
import { fieldOf, type KindName, serviceKinds } from '../services/kinds.ts'
import { onService, pathOf } from '../services/on-service.ts'
import { settingsReply, settingsRequest } from '../services/setting-table.ts'

/** The operations on the advanced settings of one kind of service. */
export function advancedSettingsTemplates<const N extends KindName>(name: N) {
  const table = settingsOfKind(name)
  const path = `${pathOf(name)}/advancedSettings` as const
  const reply = settingsReply(table)
  const one = { ...onService(name), reply } as const
  return {
    'getDefault{Kind}AdvancedSettings': operation({
      method: 'GET',
      path: `/default${fieldOf(name, 'noun')}AdvancedSettings`,
      handler: 'getDefaultAdvancedSettings',
      target: 'caller',
      kind: name,
      access: 'read',
      tag: serviceKinds[name].noun,
      summary: 'Returns every advanced setting of this kind of service with its default.',
      reply,
      status: 200,
    }),
    'get{Short}AdvancedSettings': operation({
      ...one,
      method: 'GET',
      path,
      handler: 'getAdvancedSettings',
      access: 'read',
      summary: 'Returns the advanced settings of a service: its stored values, and defaults for the rest.',
      status: 200,
    }),
    'edit{Short}AdvancedSettings': operation({
      ...one,
      method: 'PUT',
      path,
      handler: 'editAdvancedSettings',
      access: 'write',
      event: { type: 'UPDATE', target: 'SERVICE', sub: 'ADVANCED_SETTINGS' },
      summary:
        'Replaces all advanced settings of a service. Omitted keys return to their defaults. 400 for a value ' +
        'that would have no effect, unless it is the default or already stored.',
      body: settingsRequest(table),
      status: 201,
    }),
  }
}
