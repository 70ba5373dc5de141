import { Defaulted, Enum, Integer, Nullable, Text, Type } from '../schema.ts'

/** How the platform checks a replica: exactly one of the four kinds of check. */
const probe = Nullable(
  Type.Object({
    type: Type.Object({
      tcp: Type.Optional(Nullable(Type.Object({ port: Integer(1, 65535), host: Type.Optional(Nullable(Text(255))) }))),
      http: Type.Optional(
        Nullable(
          Type.Object({
            path: Defaulted(Type.String({ maxLength: 2000 }), '/'),
            scheme: Defaulted(Enum(['HTTP', 'HTTPS']), 'HTTP'),
            port: Integer(1, 65535),
          }),
        ),
      ),
      exec: Type.Optional(Nullable(Type.Object({ command: Type.Array(Text(4096), { minItems: 1, maxItems: 100 }) }))),
      grpc: Type.Optional(
        Nullable(Type.Object({ service: Type.Optional(Nullable(Text(255))), port: Integer(1, 65535) })),
      ),
    }),
    initial_delay_seconds: Defaulted(Type.Integer({ minimum: 0, maximum: 3600 }), 30),
    period_seconds: Defaulted(Type.Integer({ minimum: 1, maximum: 3600 }), 10),
    timeout_seconds: Defaulted(Type.Integer({ minimum: 1, maximum: 3600 }), 5),
    success_threshold: Defaulted(Type.Integer({ minimum: 1, maximum: 100 }), 1),
    failure_threshold: Defaulted(Type.Integer({ minimum: 1, maximum: 1000 }), 9),
  }),
)
export const Healthchecks = Type.Object({
  readiness_probe: Type.Optional(probe),
  liveness_probe: Type.Optional(probe),
})
/** In a request, none by default. */
export const healthchecks = Defaulted(Healthchecks, {})
