import { newId } from '../lib/id.ts'
import type { AuditEntry } from './record.ts'

/** A recorded change, for tests. */
export const sampleEntry = (organizationId: string, change: Partial<AuditEntry> = {}): AuditEntry => ({
  organization_id: organizationId,
  created_at: new Date('2026-01-01T12:00:00Z'),
  event_type: 'UPDATE',
  target_type: 'PROJECT',
  target_id: newId(),
  target_name: 'Shop',
  sub_target_type: null,
  project_id: null,
  project_name: null,
  environment_id: null,
  environment_name: null,
  origin: 'API',
  triggered_by: 'tests',
  caller: newId(),
  user_agent: null,
  change: '{}',
  original_change: null,
  request_id: newId(),
  ...change,
})
