import { STATUS_CODES } from 'node:http';
import type { Endpoint } from './endpoints.ts';
import { curlOf, exampleOfMedia } from './examples.ts';
import { type Content, figure, type Html, html, inlineProse, join, prose } from './html.ts';
import {
  type Body,
  type Media,
  type Parameter,
  type Response,
  resolve,
  type SecurityRequirement,
  type SecurityScheme,
  statedExample,
} from './openapi-document.ts';
import { type Field, type Page, renderFields, renderSchema, renderType } from './render-schema.ts';

/** The description that @fastify/swagger writes if the author wrote none. */
const FILLER = 'Default Response';
/** More optional headers than this are collapsed, because most of them repeat on every operation. */
const MAX_OPEN_HEADERS = 2;

export function renderOperation(page: Page, endpoint: Endpoint): Html {
  const { anchor, operation, title } = endpoint;
  const isDeprecated = operation.deprecated === true;
  return html`<article class="operation" id="${anchor}" aria-labelledby="${anchor}_title">
<header>
<h3 id="${anchor}_title"><a href="#${anchor}">${title}</a>${isDeprecated && html` <span class="deprecated">deprecated</span>`}</h3>
<p class="endpoint">${methodBadge(endpoint.method)} <code>${endpoint.path}</code></p>
</header>
<div class="columns">
<div class="text">
${prose(operation.description)}
${renderSecurity(page, operation.security ?? page.document.security)}
${renderParameters(page, endpoint.parameters)}
${renderBody(page, resolve<Body>(page.document, operation.requestBody))}
${renderResponses(page, endpoint)}
</div>
${renderExamples(page, endpoint)}
</div>
</article>
`;
}

export function methodBadge(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

/**
 * The label of a security scheme: the name of its header, such as `Api-Key`, which reads better than the scheme's name in the
 * document.
 */
export function schemeLabel(page: Page, name: string): string {
  const scheme = resolve<SecurityScheme>(page.document, page.document.components?.securitySchemes?.[name]);
  return scheme?.name ?? (scheme?.type === 'http' ? 'Authorization' : name);
}

function renderSecurity(page: Page, security: readonly SecurityRequirement[] | undefined): Content {
  if (security === undefined) return undefined;
  const choices = security.filter((requirement) => Object.keys(requirement).length > 0);
  if (choices.length === 0) return html`<p class="security">No credentials needed.</p>`;
  const links = choices.map((requirement) =>
    join(
      Object.entries(requirement).map(([name, scopes]) => html`${schemeLink(page, name)}${scopeText(scopes)}`),
      ' with ',
    ),
  );
  const isOptional = choices.length < security.length;
  return html`<p class="security">Credentials: ${join(links, ', or ')}${isOptional && ' (optional)'}</p>`;
}

function scopeText(scopes: readonly string[]): Content {
  if (scopes.length === 0) return undefined;
  const names = scopes.map((scope) => html`<code>${scope}</code>`);
  return html` (scope ${join(names, ', ')})`;
}

function schemeLink(page: Page, name: string): Html {
  const anchor = page.schemeAnchors.get(name);
  const label = html`<code>${schemeLabel(page, name)}</code>`;
  return anchor === undefined ? label : html`<a href="#${anchor}">${label}</a>`;
}

function renderParameters(page: Page, parameters: readonly Parameter[]): Content {
  const from = (place: string) => parameters.filter((parameter) => parameter.in === place).map(toField);
  const block = (title: string, fields: readonly Field[]) =>
    fields.length > 0 && html`<h4>${title}</h4>${renderFields(page, fields)}`;
  return [
    block('Path parameters', from('path')),
    block('Query parameters', from('query')),
    renderHeaders(page, from('header')),
    block('Cookies', from('cookie')),
  ];
}

function renderHeaders(page: Page, fields: readonly Field[]): Content {
  if (fields.length === 0) return undefined;
  const required = fields.filter((field) => field.isRequired);
  const optional = fields.filter((field) => !field.isRequired);
  if (optional.length <= MAX_OPEN_HEADERS) {
    return html`<h4>Headers</h4>${renderFields(page, [...required, ...optional])}`;
  }
  return html`<h4>Headers</h4>${required.length > 0 && renderFields(page, required)}
<details class="more"><summary>${optional.length} optional headers</summary>${renderFields(page, optional)}</details>`;
}

function toField(parameter: Parameter): Field {
  return {
    name: parameter.name,
    schema: parameter.schema,
    isRequired: parameter.required === true,
    description: parameter.description,
    isDeprecated: parameter.deprecated,
    example: (statedExample(parameter) ?? statedExample(parameter.schema ?? {}))?.value,
  };
}

function renderBody(page: Page, body: Body | undefined): Content {
  const [type, media] = firstMedia(body) ?? [];
  if (body === undefined || media === undefined) return undefined;
  const isOptional = body.required !== true;
  return html`<h4>Request body <span class="aside">${type}${schemaLink(page, media)}${isOptional && ' · optional'}</span></h4>
${lead(body.description)}
${renderSchema(page, media.schema)}`;
}

function renderResponses(page: Page, endpoint: Endpoint): Content {
  const responses = Object.entries(endpoint.operation.responses ?? {}).map(([status, stated]) => ({
    status,
    response: resolve<Response>(page.document, stated) ?? {},
  }));
  const errors = responses.filter(({ status }) => isError(status));
  return [
    ...responses.filter(({ status }) => !isError(status)).map((one) => renderSuccess(page, one.status, one.response)),
    errors.length > 0 && renderErrors(page, errors),
  ];
}

function renderSuccess(page: Page, status: string, response: Response): Html {
  const [type, media] = firstMedia(response) ?? [];
  const answer: Page = { ...page, isAnswer: true };
  const headers = Object.entries(response.headers ?? {}).map(([name, stated]) =>
    toField({ required: false, ...resolve<Omit<Parameter, 'name' | 'in'>>(page.document, stated), name, in: 'header' }),
  );
  return html`<h4>Response ${statusLabel(status)}${media !== undefined && html` <span class="aside">${type}${schemaLink(page, media)}</span>`}</h4>
${lead(descriptionOf(response))}
${media === undefined ? html`<p class="note">No body.</p>` : renderSchema(answer, media.schema)}
${headers.length > 0 && html`<details class="more"><summary>Response headers</summary>${renderFields(answer, headers)}</details>`}`;
}

function schemaLink(page: Page, media: Media): Content {
  return media.schema?.$ref !== undefined && [' · ', renderType(page, media.schema)];
}

function renderErrors(page: Page, errors: readonly { status: string; response: Response }[]): Html {
  const bodies = new Map(
    errors.flatMap(({ response }) => {
      const schema = firstMedia(response)?.[1].schema;
      return schema?.$ref === undefined ? [] : [[schema.$ref, schema] as const];
    }),
  );
  const links = [...bodies.values()].map((schema) => renderType(page, schema));
  const rows = errors.map(
    ({ status, response }) =>
      html`<div><dt>${statusLabel(status)}</dt><dd>${inlineProse(descriptionOf(response) ?? STATUS_CODES[status] ?? 'Error')}</dd></div>`,
  );
  const statuses = errors.map(({ status }) => html`<span>${status}</span>`);
  return html`<details class="errors"><summary><h4>Errors</h4> <span class="aside">${join(statuses, ' ')}</span></summary>
<dl>${rows}</dl>${links.length > 0 && html`<p class="note">Body: ${join(links, ' or ')}</p>`}</details>`;
}

function renderExamples(page: Page, endpoint: Endpoint): Html {
  const [status = '', stated] =
    Object.entries(endpoint.operation.responses ?? {}).find(([code]) => !isError(code)) ?? [];
  const media = firstMedia(resolve<Response>(page.document, stated))?.[1];
  const example = media && exampleOfMedia(page.document, media);
  return html`<div class="examples">
${figure('Request', withVariables(curlOf(page.document, endpoint)))}
${example?.isStated === true && figure(html`Response ${statusLabel(status)}`, renderJson(example.value))}
</div>`;
}

function lead(text: string | undefined): Content {
  return text !== undefined && html`<div class="lead">${prose(text)}</div>`;
}

function withVariables(command: string): Content {
  return command
    .split(/(\$\{?[A-Z_][A-Z0-9_]*\}?)/)
    .map((part, index) => (index % 2 === 1 ? html`<var>${part}</var>` : part));
}

/** JSON in the layout of `JSON.stringify`, with keys, strings and other values marked up. */
function renderJson(value: unknown): Content {
  const text = JSON.stringify(value, null, 2) ?? '';
  return text.split(/("(?:[^"\\]|\\.)*"(?:: )?)/).map((part, index) => {
    if (index % 2 === 0)
      return part.split(/([\w.+-]+)/).map((word, at) => (at % 2 === 1 ? html`<i class="n">${word}</i>` : word));
    return part.endsWith(': ') ? html`<i class="k">${part.slice(0, -2)}</i>: ` : html`<i class="s">${part}</i>`;
  });
}

function statusLabel(status: string): Html {
  const kind = isError(status) ? 'bad' : 'good';
  return html`<span class="status ${kind}">${status}</span>`;
}

function isError(status: string): boolean {
  return /^[45]/.test(status) || status === 'default';
}

function descriptionOf(response: Response): string | undefined {
  return response.description === FILLER ? undefined : response.description;
}

function firstMedia(holder: Body | Response | undefined): readonly [string, Media] | undefined {
  return Object.entries(holder?.content ?? {})[0];
}
