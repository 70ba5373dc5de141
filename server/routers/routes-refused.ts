import { AppError } from '../lib/error.ts'

/** Thrown if a router refuses the routes of some services. It has applied all others. */
export class RoutesRefusedError extends AppError {
  /** Why, by the id of the service. */
  readonly services: ReadonlyMap<string, string>

  constructor(services: ReadonlyMap<string, string>) {
    super('conflict', `The router refused routes: ${[...services.values()].join('; ')}.`)
    this.name = 'RoutesRefusedError'
    this.services = services
  }
}
