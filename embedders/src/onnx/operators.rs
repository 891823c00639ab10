//! The operators that a model may have: those of text encoders. Neither loops and branches, nor sequences, nor what
//! images and sound need. The linker leaves the code of all others out of the program.

use rten::OpRegistry;

macro_rules! operators {
    ($($name:ident),*) => {
        /// Names of the operators; the runtime knows `Constant` without code for it.
        const NAMES: &[&str] = &[$(stringify!($name),)* "Constant"];

        /// The code of the operators.
        pub(super) fn registry() -> OpRegistry {
            rten::op_registry!($($name),*)
        }
    };
}

operators! {
    Abs, Add, And, ArgMax, Cast, CastLike, Ceil, Clip, Concat, ConstantOfShape, Cos, CumSum,
    DequantizeLinear, Div, DynamicQuantizeLinear, Einsum, Elu, Equal, Erf, Exp, Expand,
    Flatten, Floor, Gather, GatherElements, GatherND, Gelu, Gemm, Greater, GreaterOrEqual,
    HardSigmoid, HardSwish, Identity, IsInf, IsNaN, LayerNormalization, LeakyRelu, Less,
    LessOrEqual, Log, LogSoftmax, LpNormalization, MatMul, MatMulInteger, Max, Mean, Min, Mod,
    Mul, Neg, Not, Or, Pad, Pow, PRelu, QuantizeLinear, Range, Reciprocal, ReduceL2, ReduceMax,
    ReduceMean, ReduceMin, ReduceProd, ReduceSum, ReduceSumSquare, Relu, Reshape,
    RotaryEmbedding, Round, ScatterElements, ScatterND, Shape, Sigmoid, Sign, Sin, Size, Slice,
    Softmax, Softplus, Softsign, Split, Sqrt, Squeeze, Sub, Sum, Tanh, Tile, Transpose, Trilu,
    Unsqueeze, Where, Xor
}

/// Whether a model may have an operator. Those of ONNX have no domain.
pub(super) fn is_known(domain: &str, name: &str) -> bool {
    matches!(domain, "" | "ai.onnx") && NAMES.contains(&name)
}
