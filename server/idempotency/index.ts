/** Requests that carry a key of their client's happen once: what was answered is kept for a day and answered again. */
export { createReplyPruner, type KeptReply, keepReply, type RequestKey, takeKey } from './kept-replies.ts'
