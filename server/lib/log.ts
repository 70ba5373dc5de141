import { destination, type Logger, pino, stdSerializers } from 'pino'

export type { Logger }

/** The one structured logger: JSON lines on standard error, secrets and credentials redacted. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.errWithCause },
      redact: {
        paths: [
          '*.authorization',
          '*.token',
          '*.secret',
          '*.password',
          'authorization',
          'token',
          'secret',
          'password',
          '*.target_secret',
        ],
        censor: '[secret]',
      },
    },
    destination({ dest: 2, sync: true }),
  )
}

export const silentLogger: Logger = pino({ level: 'silent' })
