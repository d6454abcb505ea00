import ts from 'typescript';
import { err, ok, type Result } from '#shared/kernel/result.ts';

/**
 * A place in a source file: a declaration of its top level and the members that lead down from it, as in `['problems', 'mastery']`. Calls,
 * assertions and functions that return it are skipped: the place of `defineRoute({ … })` is the object. `name()` is the first
 * argument of the first call of that function.
 */
export type Place = readonly string[];

type Container =
  | ts.ObjectLiteralExpression
  | ts.ArrayLiteralExpression
  | ts.InterfaceDeclaration
  | ts.TypeLiteralNode;

/** Adds a member to the object, list, interface or union at a place, as its last one or, sorted, by its name. */
export function insert(
  text: string,
  place: Place,
  code: string,
  order: 'last' | 'sorted' = 'last',
): Result<string, string> {
  const file = parse(text);
  const node = find(file, place);
  if (node !== undefined && ts.isUnionTypeNode(node)) {
    // A comment precedes the bar.
    const [, comment = '', type = ''] = /^(\/\*\*.*?\*\/\s*)?(.*)$/s.exec(code) ?? [];
    return ok(`${text.slice(0, node.end)}\n${comment}| ${type}${text.slice(node.end)}`);
  }
  if (node === undefined || !isContainer(node)) return err(`has no place ${place.join('.')} to add to`);
  const members = [...membersOf(node)];
  const name = nameOf(parseMember(code, node));
  if (members.some((member) => nameOf(member) === name)) return err(`already has ${name}`);
  const next = order === 'sorted' ? members.find((member) => nameOf(member) > name) : undefined;
  if (next !== undefined) {
    const at = afterComments(text, next.getFullStart());
    return ok(`${text.slice(0, at)}\n${code},${text.slice(at)}`);
  }
  const end = members.at(-1)?.end ?? node.end - 1;
  const isType = ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node);
  const comma = members.length === 0 || isType || hasTrailingComma(node) ? '' : ',';
  // A comment may follow the last member, so that the new one needs a line of its own.
  const behind = text.slice(end, node.end - 1).trimEnd();
  return ok(
    `${text.slice(0, end)}${comma}${behind}\n${code}${isType ? ';' : ','}\n${text.slice(node.end - 1)}`,
  );
}

/** Adds a case at the end of the switch over an expression. */
export function addCase(text: string, expression: string, code: string): Result<string, string> {
  const file = parse(text);
  const find = (node: ts.Node): ts.SwitchStatement | undefined =>
    ts.isSwitchStatement(node) && node.expression.getText() === expression
      ? node
      : ts.forEachChild(node, find);
  const found = find(file);
  if (found === undefined) return err(`has no switch (${expression})`);
  const at = found.caseBlock.end - 1;
  return ok(`${text.slice(0, at)}${code}\n${text.slice(at)}`);
}

/** Adds a statement before a declaration of the top level or, without one, at the end. */
export function append(text: string, code: string, before?: string): Result<string, string> {
  if (before === undefined) return ok(`${text}\n${code}\n`);
  const file = parse(text);
  const statement = file.statements.find((one) => declaredIn(one).some(([name]) => name === before));
  if (statement === undefined) return err(`declares no ${before}`);
  const at = afterComments(text, statement.getFullStart());
  return ok(`${text.slice(0, at)}\n${code}\n${text.slice(at)}`);
}

/** Imports names that the file does not import yet, into the declaration of that module or a new one in its alphabetical place. */
export function addImport(text: string, name: string, module: string): string {
  const declarations = parse(text).statements.filter((one) => ts.isImportDeclaration(one));
  const named = declarations.flatMap((one) => {
    const bindings = one.importClause?.namedBindings;
    return bindings !== undefined && ts.isNamedImports(bindings) ? [{ one, bindings }] : [];
  });
  const isImported = declarations.some(({ importClause: clause }) => {
    const bindings = clause?.namedBindings;
    if (bindings === undefined) return clause?.name?.text === name;
    return ts.isNamedImports(bindings)
      ? bindings.elements.some((element) => element.name.text === name)
      : `* as ${bindings.name.text}` === name;
  });
  if (isImported) return text;
  const clauseOf = name.startsWith('*') ? name : `{ ${name} }`;
  const mate = name.startsWith('*')
    ? undefined
    : named.find(
        ({ one, bindings }) =>
          moduleOf(one) === module &&
          one.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword &&
          bindings.elements.length > 0,
      );
  if (mate !== undefined) {
    const next = mate.bindings.elements.find((element) => element.name.text > name);
    const at = next?.getStart() ?? mate.bindings.elements.at(-1)?.end ?? 0;
    return `${text.slice(0, at)}${next === undefined ? `, ${name}` : `${name}, `}${text.slice(at)}`;
  }
  const line = `import ${clauseOf} from '${module}';\n`;
  const next = declarations.find((one) => positionOf(moduleOf(one)) > positionOf(module));
  const at = next?.getStart() ?? (declarations.at(-1)?.end ?? -1) + 1;
  return `${text.slice(0, at)}${line}${text.slice(at)}`;
}

/** The text at a place; undefined if there is nothing. */
export function textAt(text: string, place: Place): string | undefined {
  const [name = '', ...members] = place;
  const file = parse(text);
  if (members.length === 0) return find(file, [name])?.getText(file);
  const node = find(file, place.slice(0, -1));
  const member = node && isContainer(node) && memberOf(node, place.at(-1) ?? '');
  return member && ts.isPropertyAssignment(member) ? member.initializer.getText(file) : undefined;
}

/** Replaces the text at a place. */
export function replace(text: string, place: Place, code: string): Result<string, string> {
  const file = parse(text);
  const node = find(file, place.slice(0, -1));
  const member = node && isContainer(node) && memberOf(node, place.at(-1) ?? '');
  if (!member || !ts.isPropertyAssignment(member)) return err(`has no ${place.join('.')}`);
  const { initializer } = member;
  return ok(`${text.slice(0, initializer.getStart(file))}${code}${text.slice(initializer.end)}`);
}

/** The names of the members at a place; none if there is no such place. */
export function namesAt(text: string, place: Place): readonly string[] {
  const node = find(parse(text), place);
  return node !== undefined && isContainer(node) ? membersOf(node).map((member) => nameOf(member)) : [];
}

/** The names that a file declares at its top level. */
export function declaredNames(text: string): readonly string[] {
  return parse(text).statements.flatMap((statement) => declaredIn(statement).map(([name]) => name));
}

function parse(text: string): ts.SourceFile {
  return ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true);
}

function declaredIn(statement: ts.Statement): readonly (readonly [string, ts.Node])[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map((one) => [one.name.getText(), one] as const);
  if (
    ts.isFunctionDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement)
  )
    return statement.name === undefined ? [] : [[statement.name.text, statement]];
  return [];
}

function find(file: ts.SourceFile, [name = '', ...members]: Place): ts.Node | undefined {
  let node = name.endsWith('()') ? firstCall(file, name.slice(0, -2)) : declared(file, name);
  for (const member of members)
    node = node !== undefined && isContainer(node) ? contentOf(memberOf(node, member), file) : undefined;
  return node;
}

function declared(file: ts.SourceFile, name: string): ts.Node | undefined {
  const all = file.statements.flatMap((statement) => declaredIn(statement));
  return contentOf(all.find(([one]) => one === name)?.[1], file);
}

function firstCall(node: ts.Node, name: string): ts.Node | undefined {
  if (ts.isCallExpression(node) && node.expression.getText() === name) return node.arguments[0];
  return ts.forEachChild(node, (child) => firstCall(child, name));
}

/** What a node is in the end: behind a name, an assertion, a call, a function. */
function contentOf(node: ts.Node | undefined, file: ts.SourceFile): ts.Node | undefined {
  if (node === undefined || isContainer(node)) return node;
  if (ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node))
    return contentOf(node.initializer, file);
  if (ts.isTypeAliasDeclaration(node)) return node.type;
  if (ts.isShorthandPropertyAssignment(node)) return declared(file, node.name.text);
  if (ts.isIdentifier(node)) return declared(file, node.text);
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isParenthesizedExpression(node))
    return contentOf(node.expression, file);
  if (ts.isCallExpression(node)) {
    const { expression } = node;
    // `z.object({ … }).refine(…)`: the object.
    if (ts.isPropertyAccessExpression(expression) && ts.isCallExpression(expression.expression))
      return contentOf(expression.expression, file);
    return node.arguments
      .map((one) => contentOf(one, file))
      .find((one) => one !== undefined && isLiteral(one));
  }
  if (ts.isFunctionDeclaration(node) || ts.isArrowFunction(node)) {
    if (node.body === undefined || !ts.isBlock(node.body)) return contentOf(node.body, file);
    const last = node.body.statements.filter((one) => ts.isReturnStatement(one)).at(-1);
    return contentOf(last?.expression, file);
  }
  return node;
}

function isLiteral(node: ts.Node): node is ts.ObjectLiteralExpression | ts.ArrayLiteralExpression {
  return ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node);
}

function isContainer(node: ts.Node): node is Container {
  return isLiteral(node) || ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node);
}

function membersOf(node: Container): readonly ts.Node[] {
  if (ts.isObjectLiteralExpression(node)) return node.properties;
  return ts.isArrayLiteralExpression(node) ? node.elements : node.members;
}

function memberOf(node: Container, name: string): ts.Node | undefined {
  return membersOf(node).find((member) => nameOf(member) === name);
}

/** A member's name without quotation marks; an element of a list is its own name. */
function nameOf(member: ts.Node): string {
  const { name } = member as { readonly name?: ts.PropertyName };
  const named = name ?? member;
  if (ts.isTemplateExpression(named)) return named.getText().slice(1, -1);
  return ts.isStringLiteralLike(named) ? named.text : named.getText();
}

function parseMember(code: string, container: Container): ts.Node {
  const wrapped = ts.isArrayLiteralExpression(container)
    ? `const it = [${code}]`
    : ts.isObjectLiteralExpression(container)
      ? `const it = {${code}}`
      : `interface it {${code}}`;
  const node = find(parse(wrapped), ['it']);
  const member = node && isContainer(node) ? membersOf(node)[0] : undefined;
  if (member === undefined) throw new Error(`no member of ${ts.SyntaxKind[container.kind]}: ${code}`);
  return member;
}

function hasTrailingComma(node: Container): boolean {
  if (ts.isObjectLiteralExpression(node)) return node.properties.hasTrailingComma;
  return ts.isArrayLiteralExpression(node) && node.elements.hasTrailingComma;
}

/** Behind the comments that end the line before. */
function afterComments(text: string, at: number): number {
  return ts.getTrailingCommentRanges(text, at)?.at(-1)?.end ?? at;
}

/** By which imports are in order: packages, then what package.json names, then the neighbours. */
function positionOf(module: string): string {
  return `${module.startsWith('.') ? 2 : module.startsWith('#') ? 1 : 0} ${module}`;
}

function moduleOf(declaration: ts.ImportDeclaration): string {
  return ts.isStringLiteral(declaration.moduleSpecifier) ? declaration.moduleSpecifier.text : '';
}
