import type { LineQuantity, ShipGate } from "./event.ts";

export type RefKind =
  | "order"
  | "change"
  | "authorization"
  | "capture"
  | "void"
  | "refund"
  | "failure"
  | "reservation"
  | "shortage"
  | "release"
  | "shipment"
  | "cancel-request"
  | "cancel-confirm"
  | "cancel-reject";

/** A business key. A failure's ref is `stage:ref`; an order's is its lcid. */
export interface RefName {
  readonly kind: RefKind;
  readonly ref: string;
}

/** What an applied event left behind under its business key: enough to recognise a repeat and to judge what refers to it. */
export interface Ref extends RefName {
  /** capture → authorization (null for a sale), refund → capture, void → authorization, release → reservation, confirm and reject → cancel-request. */
  readonly parent: RefName | null;
  /** 22 characters over type and known data fields: two events with one business key mean the same if these are equal. */
  readonly dataDigest: string;
  /** Minor units, or a quantity for the stock kinds; 0 where there is neither. */
  readonly amount: number;
  /** authorization: captured and not reversed; capture: refunded and not reversed; reservation: released; else 0. */
  readonly used: number;
  /** Of an authorization only, minor units. */
  readonly voided: number;
  /** A capture or refund that the provider reported as failed. */
  readonly reversed: boolean;
  /** A cancel request without an answer, or a shortage that nothing filled yet. */
  readonly open: boolean;
  /** Of a reservation or shortage only. */
  readonly lineId: string | null;
  /** Of a cancel request only. */
  readonly detail: CancelDetail | null;
}

export interface CancelDetail {
  readonly scope: "order" | "lines";
  readonly items: readonly LineQuantity[];
}

/** One article row. It holds its own business key: sku, unitAmountMinor and addedQuantity are what a repeat is compared with. */
export interface Line {
  readonly lineId: string;
  readonly sku: string;
  readonly unitAmountMinor: number;
  readonly addedQuantity: number;
  /** What the line service says now. */
  readonly quantity: number;
  /** The highest quantity this line ever had. */
  readonly peak: number;
  readonly cancelled: number;
  readonly reserved: number;
  readonly released: number;
  readonly shipped: number;
  /** The sum over the open shortages of this line. */
  readonly shortOpen: number;
}

export interface OrderTotals {
  readonly lcid: string;
  readonly placed: boolean;
  readonly cancelled: boolean;
  readonly currency: string | null;
  readonly shipGate: ShipGate | null;
  readonly adjustmentMinor: number;
  readonly authorizedMinor: number;
  /** Captures that were not reversed. */
  readonly capturedMinor: number;
  readonly voidedMinor: number;
  /** Refunds that were not reversed. */
  readonly refundedMinor: number;
  /** Open cancel requests for the whole order. */
  readonly openCancels: number;
  readonly paymentFailures: number;
  /** The number of events applied. */
  readonly version: number;
}

/** What a decision may look at. A reference that was not loaded looks like one that does not exist: see referencesOf. */
export interface OrderView {
  readonly totals: OrderTotals;
  line(lineId: string): Line | undefined;
  lines(): Iterable<Line>;
  readonly lineCount: number;
  ref(name: RefName): Ref | undefined;
}

/** What one applied event changes. Lines and refs are whole values, each changed or new; the version is already raised. */
export interface OrderChange {
  readonly totals: OrderTotals;
  readonly lines: readonly Line[];
  readonly refs: readonly Ref[];
}
