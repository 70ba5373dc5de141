import type { KindName } from '@quayside/contract/services/kinds.ts'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export type CustomDomain = Awaited<ReturnType<typeof api.listApplicationCustomDomain>>['results'][number]
export type CheckedDomain = Awaited<ReturnType<typeof api.checkApplicationCustomDomain>>['results'][number]

/** A certificate in PEM format, with its private key. */
export interface CertificateValues {
  readonly chain: string
  readonly private_key: string
}

export interface DomainValues {
  readonly domain: string
  readonly generate_certificate: boolean
}

/** The operations on the custom domains of one kind of service, by the id of a service. */
export interface DomainOperations {
  list(id: string): Promise<{ readonly results: readonly CustomDomain[] }>
  check(id: string): Promise<{ readonly results: readonly CheckedDomain[] }>
  create(id: string, body: DomainValues): Promise<CustomDomain>
  edit(id: string, customDomainId: string, body: DomainValues): Promise<CustomDomain>
  remove(id: string, customDomainId: string): Promise<unknown>
  upload(id: string, customDomainId: string, body: CertificateValues): Promise<CustomDomain>
  removeCertificate(id: string, customDomainId: string): Promise<CustomDomain>
}

/** Kinds that are not here have no public port, so no domain leads to them. */
export const domainOperations: Readonly<Partial<Record<KindName, DomainOperations>>> = {
  application: {
    list: (applicationId) => api.listApplicationCustomDomain({ applicationId }),
    check: (applicationId) => api.checkApplicationCustomDomain({ applicationId }),
    create: (applicationId, body) => api.createApplicationCustomDomain({ applicationId, body }),
    edit: (applicationId, customDomainId, body) => api.editCustomDomain({ applicationId, customDomainId, body }),
    remove: (applicationId, customDomainId) => api.deleteCustomDomain({ applicationId, customDomainId }),
    upload: (applicationId, customDomainId, body) =>
      api.uploadApplicationCustomDomainCertificate({ applicationId, customDomainId, body }),
    removeCertificate: (applicationId, customDomainId) =>
      api.deleteApplicationCustomDomainCertificate({ applicationId, customDomainId }),
  },
  container: {
    list: (containerId) => api.listContainerCustomDomain({ containerId }),
    check: (containerId) => api.checkContainerCustomDomain({ containerId }),
    create: (containerId, body) => api.createContainerCustomDomain({ containerId, body }),
    edit: (containerId, customDomainId, body) => api.editContainerCustomDomain({ containerId, customDomainId, body }),
    remove: (containerId, customDomainId) => api.deleteContainerCustomDomain({ containerId, customDomainId }),
    upload: (containerId, customDomainId, body) =>
      api.uploadContainerCustomDomainCertificate({ containerId, customDomainId, body }),
    removeCertificate: (containerId, customDomainId) =>
      api.deleteContainerCustomDomainCertificate({ containerId, customDomainId }),
  },
  helm: {
    list: (helmId) => api.listHelmCustomDomain({ helmId }),
    check: (helmId) => api.checkHelmCustomDomain({ helmId }),
    create: (helmId, body) => api.createHelmCustomDomain({ helmId, body }),
    edit: (helmId, customDomainId, body) => api.editHelmCustomDomain({ helmId, customDomainId, body }),
    remove: (helmId, customDomainId) => api.deleteHelmCustomDomain({ helmId, customDomainId }),
    upload: (helmId, customDomainId, body) => api.uploadHelmCustomDomainCertificate({ helmId, customDomainId, body }),
    removeCertificate: (helmId, customDomainId) => api.deleteHelmCustomDomainCertificate({ helmId, customDomainId }),
  },
}

/** The domains of a service, with their proofs and certificates. */
export const customDomains = (environmentId: string, operations: DomainOperations, serviceId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'domains', serviceId],
    queryFn: async () => (await operations.list(serviceId)).results,
    staleTime: 0,
  })
