import type { Static } from '@quayside/contract'
import type { Healthchecks } from '@quayside/contract/services/probes.ts'
import { onlyOne, refuse } from './rules.ts'

export type HealthcheckSettings = Static<typeof Healthchecks>

export function checkProbes(healthchecks: HealthcheckSettings): void {
  for (const name of ['readiness_probe', 'liveness_probe'] as const) {
    const probe = healthchecks[name]
    if (!probe) continue
    const field = `healthchecks.${name}.type`
    const { http, tcp, exec, grpc } = probe.type
    onlyOne(field, { tcp, http, exec, grpc })
    if (http && (!http.path.startsWith('/') || /[\p{Cc} ]/u.test(http.path)))
      refuse(`${field}.http.path`, 'must be a path')
    if (tcp?.host && tcp.host !== 'localhost') refuse(`${field}.tcp.host`, 'must be empty or localhost')
  }
}
