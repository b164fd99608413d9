// The parts of the gateway's OpenAPI document that the page at /docs reads.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
}

export type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  /** True if it matches the rest of the path, with slashes. */
  readonly 'x-rest'?: boolean;
}

export interface OperationResponse {
  readonly description: string;
  readonly content?: Content;
}

/** An operation whose only references are in its schemas. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly 'x-risk'?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, OperationResponse>>;
  readonly method: string;
  readonly path: string;
}

/** Returns the target of a reference; any other node as it is. */
export type Resolve = <Node extends object>(node: Node) => Node;
