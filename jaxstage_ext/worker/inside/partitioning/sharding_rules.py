"""Shardy's rule of each operation: which dimensions of operands and results are one factor."""

from __future__ import annotations

from typing import Any

_POPULATE = "builtin.module(func.func(sdy-populate-op-sharding-rules))"
_RULE = "sdy.sharding_rule"


def populate(module: Any) -> None:
    """Have Shardy write the rules into a module (an operation)."""
    from jaxlib.mlir.passmanager import PassManager

    with module.context:
        PassManager.parse(_POPULATE).run(module)


class RuleReader:
    """Reads rules, each of them once."""

    def __init__(self) -> None:
        self._read: dict[Any, tuple[Any, ...]] = {}

    def rule(self, operation: Any) -> tuple[Any, ...] | None:
        """(factor sizes, operands, results, reduction, need replication, permutation, blocked); None without a rule."""
        from jaxlib.mlir.dialects import sdy

        attributes = operation.attributes
        if _RULE not in attributes:
            return None
        attribute = attributes[_RULE]
        if attribute not in self._read:
            self._read[attribute] = _read(sdy.OpShardingRuleAttr(attribute))
        return self._read[attribute]


def _read(rule: Any) -> tuple[Any, ...]:
    return (
        tuple(rule.factor_sizes),
        _mappings(rule.operand_mappings),
        _mappings(rule.result_mappings),
        tuple(rule.reduction_factors),
        tuple(rule.need_replication_factors),
        tuple(rule.permutation_factors),
        tuple(rule.blocked_propagation_factors),
    )


def _mappings(values: Any) -> tuple[tuple[tuple[int, ...], ...], ...]:
    from jaxlib.mlir.dialects import sdy

    return tuple(
        tuple(
            tuple(sdy.DimMappingAttr(dimension).factor_indices)
            for dimension in sdy.TensorMappingAttr(value).dim_mappings
        )
        for value in values
    )
