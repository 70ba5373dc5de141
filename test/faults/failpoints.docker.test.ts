import { testKillsAt } from './failpoints.cases.ts'

// Some of all points. The others are in failpoints.faults.ts.
testKillsAt(['webhook.sent', 'git.cloned', 'engine.started', 'route.recorded', 'finish.before'])
