import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Section } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { useMay } from '../use-may.ts'
import styles from './Service.module.css'

/** The address and the owner of a database. The password is read only if somebody asks for it. */
export function DatabaseConnection({ databaseId }: { readonly databaseId: string }) {
  const read = useMutation({ mutationFn: () => api.getDatabaseMasterCredentials({ databaseId }), gcTime: 0 })
  const refusal = useMay()('getDatabaseMasterCredentials')
  const { data } = read
  return (
    <Section title="Connection">
      <Problem error={read.error} />
      {data ? (
        <>
          <dl className={styles['facts']}>
            <div>
              <dt>Host</dt>
              <dd>{data.host}</dd>
            </div>
            <div>
              <dt>Port</dt>
              <dd>{data.port}</dd>
            </div>
            <div>
              <dt>Login</dt>
              <dd>{data.login}</dd>
            </div>
            <div>
              <dt>Password</dt>
              <dd>
                <code>{data.password}</code> <CopyButton textOf={() => data.password}>Copy the password</CopyButton>
              </dd>
            </div>
          </dl>
          <Button onClick={read.reset}>Close</Button>
        </>
      ) : (
        <>
          <p>Services of the environment connect by their variables. This is for people.</p>
          <Button refusal={refusal} isBusy={read.isPending} onClick={() => read.mutate()}>
            Connection with its password
          </Button>
        </>
      )}
    </Section>
  )
}
