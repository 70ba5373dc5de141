import { type Config, ConfigError } from '../config.ts'
import { AppError } from '../lib/error.ts'
import { KeyExchangeError, KeyFileError } from '../vault/index.ts'

/** The reason why the server does not start. The message names the setting and what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
  /**
   * Whether it is a mistake in the settings or the machine. Others are bugs, shown with the cause.
   */
  readonly isExpected: boolean

  constructor(message: string, options: { cause?: unknown; isExpected?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.isExpected = options.isExpected ?? true
  }
}

const isOfKeys = (error: unknown): error is KeyFileError | KeyExchangeError =>
  error instanceof KeyFileError || error instanceof KeyExchangeError

/** Returns the error for people, whatever was thrown during the start. */
export function toStartError(error: unknown, config?: Config): StartError {
  if (error instanceof StartError) return error
  if (error instanceof ConfigError || error instanceof AppError || isOfKeys(error)) {
    return new StartError(error.message, { cause: error })
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (config && code === 'EADDRINUSE') {
    const message =
      `Port ${config.port} on ${config.host} is in use. Stop the program that uses it, or set QUAYSIDE_PORT to ` +
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
