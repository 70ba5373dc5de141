import { useState } from 'react'
import type { CustomDomain, DomainOperations } from '../api/domains.ts'
import { Button } from '../ui/Button.tsx'
import { wordsOf } from '../ui/State.tsx'
import { exactTime } from '../ui/When.tsx'
import { CertificateForm } from './CertificateForm.tsx'
import styles from './DomainItem.module.css'
import { RemoveButton } from './settings/RemoveButton.tsx'
import { useMay } from './use-may.ts'

interface DomainCertificateProps {
  readonly environmentId: string
  readonly serviceId: string
  readonly operations: DomainOperations
  readonly domain: CustomDomain
}

/** The certificate of a custom domain: its state, and the upload of one. */
export function DomainCertificate({ environmentId, serviceId, operations, domain }: DomainCertificateProps) {
  const { domain: name, certificate, uploaded_certificate: uploaded } = domain
  const [isOpen, setOpen] = useState(false)
  const may = useMay()
  return (
    <div className={styles['certificate']}>
      <p data-certificate={certificate.message ? 'NOTICE' : certificate.state}>
        Certificate: {wordsOf(certificate.state)}
        {uploaded && `, issued by ${uploaded.issuer}, until ${exactTime(uploaded.not_after)}`}
        {certificate.message && `. ${certificate.message}`}
      </p>
      <span className={styles['actions']}>
        <Button
          label={uploaded ? `Replace the certificate of ${name}` : `Upload a certificate for ${name}`}
          refusal={may('uploadApplicationCustomDomainCertificate')}
          onClick={() => setOpen(true)}
        >
          {uploaded ? 'Replace the certificate' : 'Upload a certificate'}
        </Button>
        {uploaded && (
          <RemoveButton
            action="Remove"
            what={`the certificate of ${name}`}
            refusal={may('deleteApplicationCustomDomainCertificate')}
            remove={() => operations.removeCertificate(serviceId, domain.id)}
            makesOld={['environment', environmentId]}
          >
            <p>
              {domain.generate_certificate
                ? 'The platform orders another one. Until it is there, the domain answers plain HTTP only.'
                : 'The domain then answers plain HTTP only.'}
            </p>
          </RemoveButton>
        )}
      </span>
      {isOpen && (
        <CertificateForm {...{ environmentId, serviceId, operations, domain }} onClose={() => setOpen(false)} />
      )}
    </div>
  )
}
