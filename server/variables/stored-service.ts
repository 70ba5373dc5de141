import { databaseTable, databaseTypes } from '@quayside/contract/services/database.ts'
import { Secret } from '../lib/secret.ts'
import type { ServiceFacts } from './built-ins.ts'
import type { DatabaseFacts } from './database-built-ins.ts'

/** A database cell that contains a sealed text. */
export interface SealedCell {
  readonly table: string
  readonly row: string
  readonly column: string
  readonly text: string
}

/** The source of a service's built-in variables, as one statement returns it. */
export interface StoredService {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly updated_at: string
  readonly kind: string
  /** Where it is reached from outside its environment. Host names of HTTP have no port. */
  readonly external?: { readonly host: string; readonly port?: number }
  readonly branch?: string
  readonly commit?: string
  readonly version?: string
  /** The database. For other kinds its type is not a database type. */
  readonly credentials?: { readonly type?: string; readonly sealed_password?: string }
  /** The address of a public database outside its environment. */
  readonly publicAddress?: { readonly host: string; readonly port: number }
  readonly outputs?: readonly StoredOutput[]
}

interface StoredOutput {
  readonly id: string
  readonly key: string
  readonly value?: string
  readonly sealed_value?: string
}

const cellOfOutput = ({ id, sealed_value: text }: StoredOutput): SealedCell | undefined =>
  text === undefined ? undefined : { table: 'service_output', row: id, column: 'sealed_value', text }

const cellOfPassword = ({ id, credentials }: StoredService): SealedCell | undefined =>
  credentials?.sealed_password === undefined
    ? undefined
    : { table: 'service_secret', row: `${id} password`, column: 'sealed_value', text: credentials.sealed_password }

/** Lists every sealed text of the service. */
export const sealedCellsOf = (service: StoredService): SealedCell[] =>
  [cellOfPassword(service), ...(service.outputs ?? []).map(cellOfOutput)].filter((cell) => cell !== undefined)

type Opened = (sealed: string) => Secret | undefined

/** `opened` returns the plain text of a sealed one, or undefined if only names are requested. */
export function toServiceFacts(stored: StoredService, opened: Opened): ServiceFacts {
  const { created_at, updated_at, outputs, credentials, publicAddress: _, external, ...rest } = stored
  const database = credentials && databaseFacts(stored, credentials, opened)
  return {
    ...rest,
    ...(external && { externalHost: external.host }),
    ...(external?.port !== undefined && { externalPort: external.port }),
    created_at: new Date(created_at),
    updated_at: new Date(updated_at),
    ...(outputs && { outputs: outputs.map((output) => outputFacts(output, opened)) }),
    ...(database && { database }),
  }
}

function outputFacts({ key, value, sealed_value }: StoredOutput, opened: Opened) {
  if (sealed_value === undefined) return { key, isSecret: false, value: value ?? '' }
  return { key, isSecret: true, value: opened(sealed_value) ?? new Secret('') }
}

function databaseFacts(
  { publicAddress }: StoredService,
  { type: typeName, sealed_password }: NonNullable<StoredService['credentials']>,
  opened: Opened,
): DatabaseFacts | undefined {
  const type = databaseTypes.find((one) => one === typeName)
  if (!type) return undefined
  const { login, databaseName, port } = databaseTable[type]
  const password = sealed_password === undefined ? undefined : opened(sealed_password)
  return {
    type,
    login,
    databaseName,
    port,
    ...(password && { password }),
    ...(publicAddress && { publicAddress }),
  }
}
