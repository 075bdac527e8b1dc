import { COMMIT_GROUPS_GUARDS } from "./commit-groups.ts";
import { CONSOLE_GUARDS } from "./console.ts";
import { DEPLOY_GUARDS } from "./deploy.ts";
import { EVENT_QUEUES_GUARDS } from "./event-queues.ts";
import { GATEWAY_GUARDS } from "./gateway.ts";
import type { Guard } from "./guard.ts";
import { HANDOFF_LOCK_GUARDS } from "./handoff-lock.ts";
import { LANE_SCRIPT_GUARDS } from "./lane-scripts.ts";
import { MAKING_ROOM_GUARDS } from "./making-room.ts";
import { OPERATIONS_GUARDS } from "./operations.ts";
import { ORDER_STORE_GUARDS } from "./order-store.ts";
import { ORDER_TRANSACTION_GUARDS } from "./order-transaction.ts";
import { ORDER_UPDATES_GUARDS } from "./order-updates.ts";
import { ORDERS_GUARDS } from "./orders.ts";
import { QUEUES_BESIDE_A_FLOOD_GUARDS } from "./queues-beside-a-flood.ts";
import { RELAY_GUARDS } from "./relay.ts";
import { RESTORING_GUARDS } from "./restoring.ts";
import { SERVICE_GUARDS } from "./service.ts";
import { TRACING_GUARDS } from "./tracing.ts";
import { UPSTREAM_OUTBOX_GUARDS } from "./upstream-outbox.ts";
import { WORKER_GUARDS } from "./worker.ts";

/** Every guard, room by room. */
export const GUARDS: readonly Guard[] = [
  ...ORDERS_GUARDS,
  ...LANE_SCRIPT_GUARDS,
  ...HANDOFF_LOCK_GUARDS,
  ...ORDER_TRANSACTION_GUARDS,
  ...ORDER_STORE_GUARDS,
  ...EVENT_QUEUES_GUARDS,
  ...QUEUES_BESIDE_A_FLOOD_GUARDS,
  ...COMMIT_GROUPS_GUARDS,
  ...MAKING_ROOM_GUARDS,
  ...WORKER_GUARDS,
  ...RELAY_GUARDS,
  ...ORDER_UPDATES_GUARDS,
  ...SERVICE_GUARDS,
  ...UPSTREAM_OUTBOX_GUARDS,
  ...GATEWAY_GUARDS,
  ...OPERATIONS_GUARDS,
  ...CONSOLE_GUARDS,
  ...TRACING_GUARDS,
  ...DEPLOY_GUARDS,
  ...RESTORING_GUARDS,
];
