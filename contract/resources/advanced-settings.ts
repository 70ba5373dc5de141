import { named, operation } from '../operation.ts'
import { settingsOfKind } from '../services/advanced-settings.ts'
import { settingsReply, settingsRequest } from '../services/setting-table.ts'

/**
 * The advanced settings of one kind of service. `short` names its own two operations. For
 * applications it has no noun.
 */
export function advancedSettingsOperations<const K extends string, const S extends string, const N extends string>(
  noun: K,
  short: S,
  kind: N,
) {
  const table = settingsOfKind(kind)
  const path = `/${kind}/{${kind}Id}/advancedSettings` as const
  const reply = settingsReply(table)
  const onService = { target: 'service', kind, tag: noun, reply } as const
  return {
    ...named(noun, {
      'getDefault{Kind}AdvancedSettings': operation({
        method: 'GET',
        path: `/default${noun}AdvancedSettings`,
        handler: 'getDefaultAdvancedSettings',
        target: 'caller',
        kind,
        access: 'read',
        tag: noun,
        summary: 'Returns every advanced setting of this kind of service with its default.',
        reply,
        status: 200,
      }),
    }),
    ...named(short, {
      'get{Kind}AdvancedSettings': operation({
        ...onService,
        method: 'GET',
        path,
        handler: 'getAdvancedSettings',
        access: 'read',
        summary: 'Returns the advanced settings of a service: its stored values, and defaults for the rest.',
        status: 200,
      }),
      'edit{Kind}AdvancedSettings': operation({
        ...onService,
        method: 'PUT',
        path,
        handler: 'editAdvancedSettings',
        access: 'write',
        event: { type: 'UPDATE', target: 'SERVICE', sub: 'ADVANCED_SETTINGS' },
        summary:
          'Replaces all advanced settings of a service. Omitted keys return to their defaults. 400 for a value that would have no effect, unless it is the default or already stored.',
        body: settingsRequest(table),
        status: 201,
      }),
    }),
  }
}
