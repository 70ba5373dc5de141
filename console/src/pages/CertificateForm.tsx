import { useState } from 'react'
import { useChange } from '../api/change.ts'
import type { CustomDomain, DomainOperations } from '../api/domains.ts'
import { FormDialog } from '../ui/Dialog.tsx'
import { TextField } from '../ui/Field.tsx'
import { Problem } from '../ui/Problem.tsx'

interface CertificateFormProps {
  readonly environmentId: string
  readonly serviceId: string
  readonly operations: DomainOperations
  readonly domain: Pick<CustomDomain, 'id' | 'domain'>
  readonly onClose: () => void
}

/** Uploads a certificate for a custom domain. Its private key is never shown again. */
export function CertificateForm({ environmentId, serviceId, operations, domain, onClose }: CertificateFormProps) {
  const [chain, setChain] = useState('')
  const [privateKey, setPrivateKey] = useState('')
  const save = useChange({
    change: () => operations.upload(serviceId, domain.id, { chain, private_key: privateKey }),
    makesOld: ['environment', environmentId],
    onDone: onClose,
  })
  const about = (field: string) => (save.error?.message.startsWith(`${field}: `) ? save.error.message : undefined)
  const problems = { chain: about('chain'), key: about('private_key') }
  return (
    <FormDialog
      title={`Certificate of ${domain.domain}`}
      isOpen
      onClose={onClose}
      action="Upload"
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      preview={() => save.preview()}
    >
      <TextField
        label="Certificate chain"
        isLong
        isRequired
        value={chain}
        onChange={setChain}
        placeholder={'-----BEGIN CERTIFICATE-----\n…'}
        hint="PEM, often called fullchain.pem: the certificate of the domain first, then the ones of its issuers."
        problem={problems.chain}
      />
      <TextField
        label="Private key"
        isLong
        isRequired
        value={privateKey}
        onChange={setPrivateKey}
        placeholder={'-----BEGIN PRIVATE KEY-----\n…'}
        hint="PEM without a passphrase: RSA with 2048 to 4096 bits, P-256 or P-384. No page shows it again."
        problem={problems.key}
      />
      {!problems.chain && !problems.key && <Problem error={save.error} />}
    </FormDialog>
  )
}
