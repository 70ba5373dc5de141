import { type Config, ConfigError } from '../config.ts'
import { AppError } from '../lib/error.ts'
import { KeyExchangeError, KeyFileError } from '../vault/index.ts'

/** Why the server does not start; the message names the setting and what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
  /** A mistake in settings or surroundings; anything else is a bug and shown with its cause. */
  readonly isExpected: boolean

  constructor(message: string, options: { cause?: unknown; isExpected?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.isExpected = options.isExpected ?? true
  }
}

const isOfKeys = (error: unknown): error is KeyFileError | KeyExchangeError =>
  error instanceof KeyFileError || error instanceof KeyExchangeError

/** What people are told of whatever was thrown while starting. */
export function toStartError(error: unknown, config?: Config): StartError {
  if (error instanceof StartError) return error
  if (error instanceof ConfigError || error instanceof AppError || isOfKeys(error)) {
    return new StartError(error.message, { cause: error })
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (config && code === 'EADDRINUSE') {
    const message =
      `Port ${config.port} on ${config.host} is in use. End the program that uses it, or set QUAYSIDE_PORT to ` +
      'another port.'
    return new StartError(message, { cause: error })
  }
  if (config && (code === 'EADDRNOTAVAIL' || code === 'EACCES')) {
    return new StartError(
      `Port ${config.port} on ${config.host} cannot be opened; see QUAYSIDE_HOST and QUAYSIDE_PORT.`,
      { cause: error },
    )
  }
  const message = error instanceof Error ? error.message : String(error)
  return new StartError(`The server could not start: ${message}`, { cause: error, isExpected: false })
}
