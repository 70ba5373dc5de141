import { operation } from '../operation.ts'
import { Nullable, Timestamp, Type, Uuid } from '../schema.ts'

/** A new version that gets a share of the requests of its service. */
const Canary = Type.Object({
  deployment_request_id: Uuid,
  steps: Type.Array(Type.Integer(), { description: 'the percentages of all steps' }),
  step: Type.Integer({ description: 'the number of the current step, from 1' }),
  percent: Type.Integer({ description: 'of 100 requests, so many go to the new version' }),
  step_started_at: Timestamp,
  step_ends_at: Timestamp,
  requests: Type.Integer({ description: 'requests to the new version in this step' }),
  failed: Type.Integer({
    description: 'the ones with a status of 500 or above, without a whole answer or without a connection',
  }),
  slow: Type.Integer({ description: 'the ones that did not fail, but whose response began too late' }),
  max_error_percent: Type.Integer(),
  max_latency_ms: Nullable(Type.Integer({ description: 'a response that begins later is slow' })),
  max_slow_percent: Type.Integer(),
  is_promoted: Type.Boolean({ description: 'whether a person ended the steps: it gets all requests next' }),
})

/** The current step of a service, if it has one. */
export const ServiceCanary = Type.Object({ canary: Nullable(Canary) })

const common = {
  extension: true,
  target: 'service',
  tag: 'Environment Deployment History',
  reply: ServiceCanary,
} as const

export const canaryOperations = {
  getServiceCanary: operation({
    ...common,
    method: 'GET',
    path: '/service/{serviceId}/canary',
    handler: 'getServiceCanary',
    access: 'read',
    summary: 'Returns the step of the canary deployment of a service and its requests. Null if there is none.',
    status: 200,
  }),
  promoteServiceCanary: operation({
    ...common,
    method: 'POST',
    path: '/service/{serviceId}/canary/promote',
    handler: 'promoteServiceCanary',
    access: 'deploy',
    event: { type: 'TRIGGER_DEPLOY', target: 'SERVICE' },
    summary:
      'Ends the steps of the canary deployment of a service: its new version gets all requests. 409 if it has none. ' +
      'Cancelling the deployment goes back.',
    status: 202,
  }),
} as const
