import { expectTypeOf, it } from 'vitest';
import type * as z from 'zod';
import type { MasteryClient, ReportsClient, SandboxClient } from '#client/index.ts';
import type { masteryRoutes } from '#shared/contract/mastery/routes.ts';
import type { reportsRoutes } from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import type { sandboxRoutes } from '#shared/contract/sandbox.ts';

/** The listed values of an enumeration, without "or one that a later version adds". */
type Listed<T> = T extends string ? (string extends T ? never : T) : never;
type WithoutOther<T> = [Listed<T>] extends [never] ? T : Exclude<T, string> | Listed<T>;

/** A type as both sides can spell it: writable all the way down, enumerations closed. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<WithoutOther<Item>>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Plain<WithoutOther<T[Key]>> }
    : T;

// Identical types, not only assignable ones: the usual comparison of two functions that are generic in T.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : Stale;
/** What the compiler prints in the place of a type that differs. */
type Stale = 'client/src/generated differs from the schemas: run npm run docs';
type AnyMethod = (input: never) => Promise<{ readonly data: unknown }>;

type ShapeOf<Shape> = { [Name in keyof Shape]: Shape[Name] extends z.ZodType ? z.input<Shape[Name]> : never };
type BodyOf<R extends Route, Side extends 'input' | 'output'> = R['request']['body'] extends z.ZodType
  ? { input: z.input<R['request']['body']>; output: z.output<R['request']['body']> }[Side]
  : unknown;
/** Path and body. A query is text in the schemas, and has types in the client. */
type Expected<R extends Route, Side extends 'input' | 'output'> = ShapeOf<R['request']['path']['shape']> &
  BodyOf<R, Side>;

/** The client may send what the schemas take, and can send what they give: what a preprocessed member takes is not known. */
type Fits<Input, Taken, Given> = [keyof Given] extends [never]
  ? // A route without path and body: its input has no members, which the client spells as a record of none.
    [Input] extends [Record<string, never>]
    ? true
    : Stale
  : [Input] extends [Taken]
    ? [Given] extends [Input]
      ? Same<keyof Input, keyof Given>
      : Stale
    : Stale;

/** For each method, whether it takes and returns what the schemas of its route do. */
type Agreement<Client, Routes> = {
  [Name in keyof Client & keyof Routes]: Routes[Name] extends Route
    ? Client[Name] extends AnyMethod
      ? {
          readonly input: Fits<
            Plain<
              Omit<Parameters<Client[Name]>[0], 'ifMatch' | keyof Routes[Name]['request']['query']['shape']>
            >,
            Expected<Routes[Name], 'input'>,
            Plain<Expected<Routes[Name], 'output'>>
          >;
          readonly data: Same<
            Plain<Awaited<ReturnType<Client[Name]>>['data']>,
            Plain<z.output<Routes[Name]['success']['schema']>>
          >;
        }
      : never
    : never;
};
type Agreed<Client, Routes> = {
  [Name in keyof Client & keyof Routes]: { readonly input: true; readonly data: true };
};

it('the types of the client are those of the schemas', () => {
  expectTypeOf<Agreement<MasteryClient, typeof masteryRoutes>>().toEqualTypeOf<
    Agreed<MasteryClient, typeof masteryRoutes>
  >();
  expectTypeOf<Agreement<ReportsClient, typeof reportsRoutes>>().toEqualTypeOf<
    Agreed<ReportsClient, typeof reportsRoutes>
  >();
  expectTypeOf<Agreement<SandboxClient, typeof sandboxRoutes>>().toEqualTypeOf<
    Agreed<SandboxClient, typeof sandboxRoutes>
  >();
});
