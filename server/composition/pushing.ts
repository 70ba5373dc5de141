import type { Rooms } from '../http/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { createPushWorkflow } from '../pushes/index.ts'
import { refusalOf, repositoryOf } from '../requests/index.ts'

import type { Foundation } from './foundation.ts'

/** Handles pushes to repositories. `selected` is available once everything is joined. */
export function createPushes(foundation: Foundation, selected: () => Rooms['selected']) {
  const { database, log, git, home, readCredential } = foundation
  return createPushWorkflow({
    database,
    clock,
    log,
    git,
    home,
    refusalOf: (service) => refusalOf(foundation.engines, service),
    repositoryOf: (service, repository) => repositoryOf(database, readCredential, service.organization_id, repository),
    deploy: (environment, targets, by) => selected().deployPushed(environment, targets, by),
  })
}
