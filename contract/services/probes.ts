import { Enum, Integer, Nullable, Text, Type } from '../schema.ts'

/** How the platform sees that a replica works. Exactly one of the four kinds of check is given. */
const probe = Nullable(
  Type.Object({
    type: Type.Object({
      tcp: Type.Optional(Nullable(Type.Object({ port: Integer(1, 65535), host: Type.Optional(Nullable(Text(255))) }))),
      http: Type.Optional(
        Nullable(
          Type.Object({
            path: Type.String({ maxLength: 2000, default: '/' }),
            scheme: Type.Unsafe<'HTTP' | 'HTTPS'>({ ...Enum(['HTTP', 'HTTPS']), default: 'HTTP' }),
            port: Integer(1, 65535),
          }),
        ),
      ),
      exec: Type.Optional(Nullable(Type.Object({ command: Type.Array(Text(4096), { minItems: 1, maxItems: 100 }) }))),
      grpc: Type.Optional(
        Nullable(Type.Object({ service: Type.Optional(Nullable(Text(255))), port: Integer(1, 65535) })),
      ),
    }),
    initial_delay_seconds: Type.Integer({ minimum: 0, maximum: 3600, default: 30 }),
    period_seconds: Type.Integer({ minimum: 1, maximum: 3600, default: 10 }),
    timeout_seconds: Type.Integer({ minimum: 1, maximum: 3600, default: 5 }),
    success_threshold: Type.Integer({ minimum: 1, maximum: 100, default: 1 }),
    failure_threshold: Type.Integer({ minimum: 1, maximum: 1000, default: 9 }),
  }),
)
export const Healthchecks = Type.Object({
  readiness_probe: Type.Optional(probe),
  liveness_probe: Type.Optional(probe),
})
/** In a request: none unless given. */
export const healthchecks = Type.Unsafe<typeof Healthchecks.static>({ ...Healthchecks, default: {} })
