/** KEDA's custom resources as far as the manifests use them, with its names; anything else is a mistake here. */
const closed = (properties: object, required: readonly string[] = Object.keys(properties)): object => ({
  type: "object",
  additionalProperties: false,
  properties,
  required,
});
const TEXT = { type: "string", minLength: 1 };
const WHOLE = { type: "integer", minimum: 0 };
const LABELS = { type: "object", additionalProperties: TEXT };
const METADATA = closed({ name: TEXT, namespace: TEXT, labels: LABELS }, ["name"]);
const POLICY = closed({ type: { enum: ["Pods", "Percent"] }, value: WHOLE, periodSeconds: WHOLE });
const RULES = closed({ stabilizationWindowSeconds: WHOLE, policies: { type: "array", items: POLICY } }, [
  "policies",
]);

export const SCALED_OBJECT = closed({
  apiVersion: { const: "keda.sh/v1alpha1" },
  kind: { const: "ScaledObject" },
  metadata: METADATA,
  spec: closed({
    scaleTargetRef: closed({ name: TEXT }),
    minReplicaCount: WHOLE,
    maxReplicaCount: WHOLE,
    pollingInterval: WHOLE,
    advanced: closed({
      // Numbers are texts here.
      scalingModifiers: closed({
        formula: TEXT,
        target: TEXT,
        metricType: { enum: ["AverageValue", "Value"] },
      }),
      horizontalPodAutoscalerConfig: closed({ behavior: closed({ scaleUp: RULES, scaleDown: RULES }) }),
    }),
    triggers: {
      type: "array",
      items: closed({
        // A formula knows triggers by these.
        name: { type: "string", pattern: "^[a-z_]+$" },
        type: { const: "redis" },
        metadata: closed({ listName: TEXT, listLength: { type: "string", pattern: "^[0-9]+$" } }),
        authenticationRef: closed({ name: TEXT }),
      }),
    },
  }),
});

export const TRIGGER_AUTHENTICATION = closed({
  apiVersion: { const: "keda.sh/v1alpha1" },
  kind: { const: "TriggerAuthentication" },
  metadata: METADATA,
  spec: closed({
    secretTargetRef: { type: "array", items: closed({ parameter: TEXT, name: TEXT, key: TEXT }) },
  }),
});

export interface ScaledObject {
  readonly spec: {
    readonly scaleTargetRef: { readonly name: string };
    readonly minReplicaCount: number;
    readonly maxReplicaCount: number;
    readonly advanced: { readonly scalingModifiers: { readonly formula: string; readonly target: string } };
    readonly triggers: readonly { readonly name: string; readonly metadata: { readonly listName: string } }[];
  };
}
