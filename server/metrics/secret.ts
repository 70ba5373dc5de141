import { createHmac } from 'node:crypto'
import { Secret } from '../lib/secret.ts'

/**
 * Pure: returns the token with which the operator reads `/metrics`. It follows from the pepper, so
 * all servers of an installation have the same.
 */
export const metricsSecret = (pepper: Buffer): Secret =>
  new Secret(createHmac('sha256', pepper).update('the metrics of the platform').digest('base64url'))
