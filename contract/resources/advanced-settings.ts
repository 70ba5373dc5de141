import { named, operation } from '../operation.ts'
import { settingsOfKind } from '../services/advanced-settings.ts'
import { settingsReply, settingsRequest } from '../services/setting-table.ts'

/** Advanced settings of one kind of service; `short` is how its own two operations are called, which for applications have no noun. */
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
        summary: 'Every advanced setting with its default.',
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
        summary: 'The advanced settings that count: what was sent, and defaults for the rest.',
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
          'Replaces all: a key that is left out has its default again. 400 for a value that would not act there, unless it is the default or already stored.',
        body: settingsRequest(table),
        status: 201,
      }),
    }),
  }
}
