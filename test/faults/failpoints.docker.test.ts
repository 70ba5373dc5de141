import { testKillsAt } from './failpoints.cases.ts'

// A few of all points: the others stand in failpoints.faults.ts.
testKillsAt(['webhook.sent', 'git.cloned', 'engine.started', 'route.recorded', 'finish.before'])
