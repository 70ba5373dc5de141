import { placeOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { idleSettings } from '@quayside/contract/services/refused-settings.ts'
import type { Reachable } from '../engines/index.ts'
import type { ReleaseRow } from '../releases/index.ts'
import type { Work } from './recipe.ts'

/**
 * Warns about stored advanced settings that have no effect on this engine. They come from an
 * earlier version of the platform or from another cluster.
 */
export function tellIdleSettings(
  { capabilities }: Reachable,
  { report }: Pick<Work, 'report'>,
  { kind, advanced_settings }: Pick<ReleaseRow, 'kind' | 'advanced_settings'>,
): void {
  const idle = idleSettings(advanced_settings, placeOfKind(kind, capabilities))
  if (idle.length > 0)
    report.line(`These advanced settings have no effect on this cluster: ${idle.join(', ')}.`, 'warning')
}
