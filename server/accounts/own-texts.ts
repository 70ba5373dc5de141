import type { OwnTexts } from '../vault/index.ts'
import { listIssuerKeysNotBy, replacePrivateKey } from './issuer-key-store.ts'
import { privateKeyCell } from './issuer-keys.ts'
import { payloadCell } from './record-adapter.ts'
import { listRecordsNotBy, replacePayload } from './record-store.ts'

/** What the master key itself seals in this room: an exchange of it has to seal these anew. */
export const ownTexts: readonly OwnTexts[] = [
  {
    list: async (sql, keyId, limit) =>
      (await listIssuerKeysNotBy(sql, keyId, limit)).map(({ id, sealed_private_key }) => ({
        place: { organization: '', ...privateKeyCell(id) },
        sealed: sealed_private_key,
        replace: (within, sealed) => replacePrivateKey(within, id, sealed),
      })),
  },
  {
    list: async (sql, keyId, limit) =>
      (await listRecordsNotBy(sql, keyId, limit)).map(({ model, id_hash, sealed_payload }) => ({
        place: { organization: '', ...payloadCell(model, id_hash) },
        sealed: sealed_payload,
        replace: (within, sealed) => replacePayload(within, model, id_hash, sealed),
      })),
  },
]
