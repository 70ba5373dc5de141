import type { Clock } from '../lib/clock.ts'
import { cloneService, type ServicesOptions } from '../services/index.ts'
import type { Vault } from '../vault/index.ts'
import type { RowCopyOptions } from './copy-environment.ts'
import { copyNames } from './copy-names.ts'

/** Functions of other rooms that copy a service. */
export interface RowCopierOptions extends Pick<ServicesOptions, 'declareHosts' | 'parts' | 'claimDisk'> {
  readonly vault: Vault
  readonly clock: Clock
}

/** Writes the rows of copied services. Their variables follow together once every copy exists. */
export function createRowCopier(options: RowCopierOptions): RowCopyOptions {
  const withoutVariables = { ...options, copyVariables: async () => {} }
  return {
    clock: options.clock,
    copyService: (sql, clone) => cloneService(sql, withoutVariables, clone),
    copyVariables: (sql, copy) => copyNames(sql, options, copy),
  }
}
