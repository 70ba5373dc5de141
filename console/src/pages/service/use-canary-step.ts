import { useQuery } from '@tanstack/react-query'
import { type CanaryStep, canary } from '../../api/reads-canary.ts'

interface DeployedService {
  readonly environmentId: string
  readonly serviceId: string
  readonly kind: string
  /** The state of the service in its deployment. */
  readonly state: string
}

/** The canary step of a service, followed while it is being deployed. */
export function useCanaryStep({ environmentId, serviceId, kind, state }: DeployedService): CanaryStep | undefined {
  const mayHaveSteps = (kind === 'application' || kind === 'container') && state === 'DEPLOYING'
  const { data: step } = useQuery({ ...canary(environmentId, serviceId), enabled: mayHaveSteps })
  return mayHaveSteps ? (step ?? undefined) : undefined
}
