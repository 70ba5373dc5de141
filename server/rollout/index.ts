/**
 * The recipe that carries out a deployment request: builds, starts, traffic, clean-up, and the plan
 * of a dry run.
 */
export { createCanaryLooks } from './canary-looks.ts'
export { summarizeDiff } from './chart-diff-summary.ts'
export { chartDiff, chartDiffs } from './chart-diffs.ts'
export { createListChartServices, type ListChartServices } from './chart-services.ts'
export { createCheckStack } from './check-stack.ts'
export { dataRefusal } from './database-place.ts'
export { createDeploymentSlots } from './deployment-slots.ts'
export { createDeploymentWorkflow } from './deployment-workflow.ts'
export { haveImage } from './image-release.ts'
export { loadJob } from './job-release.ts'
export { lastReason } from './outcome-store.ts'
export { createPlans, type Plans } from './plans.ts'
export { createPatience, type Recipe, type RecipeOptions, recipeFor } from './recipe.ts'
export { createReleaseOpener } from './release-opener.ts'
export { runningReleases } from './running-releases.ts'
export { createScratchStarter } from './scratch-starter.ts'
export { createPlanToApply } from './shown-plans.ts'
export { createDriftWorkflow } from './stack-drift.ts'
export { createDriftTimetables } from './stack-drift-timetables.ts'
